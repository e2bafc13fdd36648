/** The exact identity of a server, and the registry that makes one frozen instance of each. */

declare const brand: unique symbol

/** The parts of a key as plain data: what a configuration, a store or a wire carries. */
export interface KeyParts {
  readonly name: string
  /** null for a thread-wide server */
  readonly environmentId: string | null
  /** null unless the configuration names one */
  readonly installationId: string | null
}

/** The JSON form of a key, with its display text. */
export interface KeyJson extends KeyParts {
  readonly display: string
}

/** The exact identity of a server. One frozen instance per identity and runtime: the core compares with `===`, plugins with `equals`. */
export interface ServerKey extends KeyParts {
  /** `name`, `name (environment ID)`, `name (environment ID, installation X)`: for people, never to be parsed. */
  toString(): string
  toJSON(): KeyJson
  /** True where the other value has the same three parts (a key, or a tap's view of one). */
  equals(other: unknown): boolean
  /** Only a runtime makes keys; an object literal is not one. */
  readonly [brand]: true
}

/** The display form of the parts of a key. */
export function displayKey({ name, environmentId, installationId }: KeyParts): string {
  const parts = [
    environmentId === null ? '' : `environment ${environmentId}`,
    installationId === null ? '' : `installation ${installationId}`,
  ].filter(Boolean)
  return parts.length === 0 ? name : `${name} (${parts.join(', ')})`
}

/** True where the parts agree; accepts any value on either side. */
export function sameParts(a: KeyParts, b: unknown): boolean {
  if (typeof b !== 'object' || b === null) return false
  const other = b as Partial<KeyParts>
  return a.name === other.name && a.environmentId === other.environmentId && a.installationId === other.installationId
}

/** Order of keys everywhere: name by bytes, thread-wide before scoped, then environment id, then installation. */
export function compareKeys(a: KeyParts, b: KeyParts): number {
  return compareText(a.name, b.name) || compareText(a.environmentId, b.environmentId) || compareText(a.installationId, b.installationId)
}

function compareText(a: string | null, b: string | null): number {
  if (a === b) return 0
  if (a === null) return -1
  if (b === null) return 1
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

class InternedKey implements KeyParts {
  readonly name: string
  readonly environmentId: string | null
  readonly installationId: string | null
  declare readonly [brand]: true

  constructor({ name, environmentId, installationId }: KeyParts) {
    this.name = name
    this.environmentId = environmentId
    this.installationId = installationId
    Object.freeze(this)
  }

  toString(): string {
    return displayKey(this)
  }

  toJSON(): KeyJson {
    return { name: this.name, environmentId: this.environmentId, installationId: this.installationId, display: displayKey(this) }
  }

  equals(other: unknown): boolean {
    return sameParts(this, other)
  }
}
Object.freeze(InternedKey.prototype)

/** Makes the keys of one runtime. Look-ups of untrusted names use `find`, which never makes one. */
export class KeyRegistry {
  readonly #keys = new Map<string, ServerKey>()

  /** The one instance for these parts; made on first use. Call only with names from a checked definition. */
  intern(parts: KeyParts): ServerKey {
    const id = identity(parts)
    let key = this.#keys.get(id)
    if (!key) this.#keys.set(id, (key = new InternedKey(parts)))
    return key
  }

  /** The instance for these parts, or null where no definition has them. */
  find(parts: KeyParts): ServerKey | null {
    return this.#keys.get(identity(parts)) ?? null
  }

  /** True for an instance that this registry made. */
  owns(key: unknown): key is ServerKey {
    return key instanceof InternedKey && this.#keys.get(identity(key)) === key
  }
}

const identity = ({ name, environmentId, installationId }: KeyParts): string => JSON.stringify([name, environmentId, installationId])
