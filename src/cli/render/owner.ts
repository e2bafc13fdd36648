/** A server key in JSON and for people. */
import { displayKey } from '../../servers/key.ts'
import type { KeyJson, KeyParts } from '../../servers/key.ts'
import { visibleLine } from './escape.ts'

/** `owner` in every JSON document: always these four fields. */
export function ownerJson(key: KeyParts): KeyJson {
  const { name, environmentId, installationId } = key
  return { name, environmentId, installationId, display: displayKey(key) }
}

/** The display form, safe for a terminal. */
export function ownerText(key: KeyParts): string {
  return visibleLine(displayKey(key))
}
