import { deny, STAGE_GUARD } from 'tapline/plugin'

/** Refuses every tool that does not say that it only reads. */
export default class ReadOnlyPlugin {
  name = 'read-only'

  apply({ hooks }) {
    hooks.approve.tap({ name: 'only-reads', stage: STAGE_GUARD, methods: ['tools/call'] }, (call) => {
      if (call.annotations.readOnlyHint !== true) return deny(`${call.tool} of ${call.owner} may write`)
    })
  }
}
