/** The naming scheme `stable`: a name is a function of key and raw tool alone. */
import { createHash } from 'node:crypto'
import { TaplineError } from '../errors.ts'
import type { KeyParts } from './key.ts'
import type { NamingScheme, ToolName } from './naming-scheme.ts'

/** Limits of the flat name, in characters. */
const MIN_NAME_LENGTH = 64
const MAX_NAME_LENGTH = 128

/** Characters of the server part. */
const SERVER_LENGTH = 21
/** Hex digits of a hash; in a part they stand after one underscore. */
const HASH_LENGTH = 12
const LOOKS_HASHED = /_[0-9a-f]{12}$/
const LOOKS_LIKE_SCOPE = /^[0-9a-f]{12}$/

/** Names of `[A-Za-z0-9_-]`, at most `maxLength` long. Throws CONFIG_INVALID for a length outside 64 to 128. */
export class StableNaming implements NamingScheme {
  readonly #maxLength: number
  readonly #scoped: boolean
  readonly #namespaces = new WeakMap<KeyParts, string>()

  /** `scoped` false leaves the scope of a server out of what is shown; a hash still has it. */
  constructor({ maxLength, scoped }: { readonly maxLength: number; readonly scoped: boolean }) {
    if (!Number.isInteger(maxLength) || maxLength < MIN_NAME_LENGTH || maxLength > MAX_NAME_LENGTH) {
      throw new TaplineError(
        'CONFIG_INVALID',
        `naming.maxLength is ${maxLength}, but has to be between ${MIN_NAME_LENGTH} and ${MAX_NAME_LENGTH}`,
      )
    }
    this.#maxLength = maxLength
    this.#scoped = scoped
  }

  namespace(key: KeyParts): string {
    let namespace = this.#namespaces.get(key)
    if (namespace === undefined) {
      namespace = `mcp__${this.#scoped ? scopeOf(key) : ''}${serverPart(key)}`
      // a key is frozen, so what was computed once stays right; other objects may change under us
      if (Object.isFrozen(key)) this.#namespaces.set(key, namespace)
    }
    return namespace
  }

  tool(key: KeyParts, raw: string): ToolName {
    const namespace = this.namespace(key)
    const length = this.#maxLength - namespace.length - 2
    const cleaned = clean(raw)
    const isPlain = cleaned === raw && raw.length <= length && !LOOKS_HASHED.test(raw)
    const nameInNamespace = isPlain ? raw : withHash(cleaned, length, [...identity(key), raw])
    return { namespace, nameInNamespace, name: `${namespace}__${nameInNamespace}` }
  }
}

/** Two installations of a thread-wide server need different names too, so only the one without id has no scope. */
function scopeOf({ environmentId, installationId }: KeyParts): string {
  if (installationId !== null) return `${hash([environmentId ?? '', installationId])}__`
  return environmentId === null ? '' : `${hash([environmentId])}__`
}

function serverPart(key: KeyParts): string {
  const cleaned = clean(key.name).replace(/_+/g, '_').replace(/^_|_$/g, '')
  const isPlain = cleaned === key.name && cleaned.length <= SERVER_LENGTH && !LOOKS_HASHED.test(cleaned) && !LOOKS_LIKE_SCOPE.test(cleaned)
  return isPlain ? cleaned : withHash(cleaned, SERVER_LENGTH, identity(key))
}

const identity = ({ environmentId, installationId, name }: KeyParts): readonly string[] => [environmentId ?? '', installationId ?? '', name]
/** Each code point outside of the set becomes one underscore. */
const clean = (text: string): string => text.replace(/[^A-Za-z0-9_-]/gu, '_')
const withHash = (cleaned: string, length: number, parts: readonly string[]): string =>
  `${cleaned.slice(0, length - HASH_LENGTH - 1)}_${hash(parts)}`
const hash = (parts: readonly string[]): string => createHash('sha1').update(parts.join('\0')).digest('hex').slice(0, HASH_LENGTH)
