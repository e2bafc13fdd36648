/** What a plugin put on prototypes that everybody shares. It is taken away at once: the whole process would trip over it. */
const SHARED = [Object.prototype, Array.prototype, Function.prototype].map((prototype) => ({
  prototype: prototype as object,
  keys: new Set(Reflect.ownKeys(prototype)),
}))

/** Takes away what was not there when this file was loaded, and gives its name; null where there is nothing. */
export function cleanPrototypes(): string | null {
  let found: string | null = null
  for (const { prototype, keys } of SHARED) {
    const now = Reflect.ownKeys(prototype)
    if (now.length === keys.size) continue
    for (const key of now) {
      if (keys.has(key)) continue
      found = String(key)
      Reflect.deleteProperty(prototype, key)
    }
  }
  return found
}
