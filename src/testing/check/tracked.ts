/** Copies that notice when somebody writes to them, where the real thing is frozen and a write can be swallowed. */

type OnWrite = (where: string) => void

/** A copy of JSON that tells of every write to it, at any depth, and lets none through. */
export function trackedJson<T>(value: T, onWrite: OnWrite): T {
  return track(structuredClone(value), onWrite)
}

function track<T>(value: T, onWrite: OnWrite): T {
  if (typeof value !== 'object' || value === null) return value
  const refuse = (_target: object, key: PropertyKey): boolean => {
    onWrite(String(key))
    return false
  }
  return new Proxy(value, {
    get: (target, key) => track(Reflect.get(target, key) as unknown, onWrite),
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
  }) as T
}

/** A call whose arguments tell of writes. Everything else is the call's own. */
export function trackedCall<T extends object>(call: T, onWrite: OnWrite): T {
  let copy: unknown
  return new Proxy(call, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (key === 'arguments') return (copy ??= trackedJson(value, onWrite))
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
    // the setters of a view want the view itself
    set: (target, key, value) => Reflect.set(target, key, value, target),
  })
}
