/** What to do where a call needs approval only because hints of its server are not believed. */
import type { PipelineRun } from './pipeline-run.ts'

/** The end of a remedy, or null. A file that was only found does not say what is harmless; who trusts it can say so. */
export function untrustedRemedy({ sealed: { entry, tool } }: PipelineRun): string | null {
  if (entry.registration.policy.trustAnnotations || tool?.annotations.readOnlyHint !== true) return null
  return 'set trustAnnotations of the server in a file of your own: its readOnlyHint then counts.'
}
