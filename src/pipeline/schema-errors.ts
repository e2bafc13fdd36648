/** The findings of a schema check as one line for people and models. */
import type { ErrorObject } from 'ajv'

const LONGEST_LINE = 400
const LONGEST_LIST = 10

/** One line: the place (`arguments.items[0].name`) and what is wrong there. Holds names of properties, never values of the checked data. */
export function describeErrors(errors: readonly ErrorObject[], root: string): string {
  const outermost = errors.at(-1)
  if (outermost === undefined) return `${root} must match the schema`
  const inner = errors
    .slice(0, -1)
    .slice(0, 2)
    .map((error) => describe(error, root))
  const line = describe(outermost, root) + (inner.length === 0 ? '' : ` (${inner.join('; ')})`)
  const clean = line.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return clean.length > LONGEST_LINE ? `${clean.slice(0, LONGEST_LINE)}…` : clean
}

function describe({ instancePath, keyword, params, message }: ErrorObject, root: string): string {
  return `${root}${readablePath(instancePath)} ${problem(keyword, params, message)}`
}

function problem(keyword: string, params: Readonly<Record<string, unknown>>, message = 'must match the schema'): string {
  switch (keyword) {
    case 'required':
      return `must have the property ${shown(params.missingProperty)}`
    case 'additionalProperties':
      return `must not have the property ${shown(params.additionalProperty)}`
    case 'unevaluatedProperties':
      return `must not have the property ${shown(params.unevaluatedProperty)}`
    case 'propertyNames':
      return `must not have a property called ${shown(params.propertyName)}`
    case 'false schema':
      return 'is not allowed'
    case 'const':
      return `must be ${shown(params.allowedValue)}`
    case 'enum': {
      const values = Array.isArray(params.allowedValues) ? params.allowedValues : []
      return `must be one of ${values.slice(0, LONGEST_LIST).map(shown).join(', ')}${values.length > LONGEST_LIST ? ' …' : ''}`
    }
    default:
      return message
  }
}

function readablePath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : /^[\w$-]+$/.test(part) ? `.${part}` : `[${shown(part)}]`))
    .join('')
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
