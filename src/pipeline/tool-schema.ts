/** Checks arguments and structured results against the schemas of a tool. A schema that cannot be used switches the check off for that tool alone. */
import type { Options, ValidateFunction } from 'ajv'
import type { ToolRecord } from '../connections/connection.ts'
import type { Json, JsonObject } from '../json.ts'
import { canonicalJson, isJsonObject } from '../json.ts'
import { guardPattern } from './pattern-guard.ts'
import { describeErrors } from './schema-errors.ts'
import { acceptsAnyObject, hasTuple, measureSchema, plainSchema } from './schema-shape.ts'
import { isTimeLimit, withinTime } from './time-limit.ts'

/** Which of the two schemas of a tool. */
export type SchemaSide = 'input' | 'output'

/** A schema that is ready to be used. */
export interface CompiledSchema {
  /** null where the value fits or nothing can be said; else one line: the place and what is wrong. Synchronous, at most 250 ms. */
  check(value: Json): string | null
  /** why nothing is checked (one line, for a diagnostic), or null; a check that ran out of time sets it */
  readonly disabled: string | null
  /** parts of the schema that are left out of the check, one line each */
  readonly notes: readonly string[]
}

interface Compiler {
  compile(schema: JsonObject): ValidateFunction
  removeKeyword(keyword: string): unknown
  addKeyword(definition: {
    keyword: string
    type: 'array'
    schemaType: 'boolean'
    errors: false
    error: { message: string }
    validate: (on: boolean, items: readonly Json[]) => boolean
  }): unknown
}
type Dialect = new (options: Options) => Compiler

const COMPILE_LIMIT_MS = 2000
const CHECK_LIMIT_MS = 250
/** bytes; a smaller schema without the keywords below takes time in proportion to the value */
const SMALL = 8 * 1024
const COSTLY = ['$ref', '$dynamicRef', '$recursiveRef', 'pattern', 'patternProperties']
/** A value of this depth is never what exhausts the stack. */
const ORDINARY_DEPTH = 200
/** With one of these in a schema, "this pattern fits" may be what makes a value invalid. */
const TURNS_AROUND = ['not', 'oneOf', 'if', 'contains', 'patternProperties', 'unevaluatedProperties', 'unevaluatedItems']
const GIVE_UP = new Error('a pattern that is not tried')

const FITS: CompiledSchema = Object.freeze({ check: () => null, disabled: null, notes: Object.freeze([]) })
const FITS_OBJECTS: CompiledSchema = Object.freeze({
  ...FITS,
  check: (value: Json) => (isJsonObject(value) ? null : 'structuredContent must be object'),
})

/** The schemas of a tool, or of something that has schemas like one. */
type WithSchemas = Pick<ToolRecord, 'inputSchema' | 'outputSchema'>

/** The schema checks of one runtime. Compiled once for each schema object, on first use; gone with the record. */
export class SchemaChecker {
  readonly #ready = new WeakMap<JsonObject, CompiledSchema>()
  readonly #pending = new WeakMap<JsonObject, Promise<CompiledSchema>>()

  /** The check, where it is there at once: prepared before, or of a schema that accepts every object. */
  get(record: WithSchemas, side: SchemaSide = 'input'): CompiledSchema | null {
    const schema = side === 'input' ? record.inputSchema : record.outputSchema
    if (schema === null) return FITS
    let ready = this.#ready.get(schema)
    if (ready === undefined && acceptsAnyObject(schema)) {
      ready = side === 'output' && schema.type === 'object' ? FITS_OBJECTS : FITS
      this.#ready.set(schema, ready)
    }
    return ready ?? null
  }

  /** The check, compiled where it has to be. Never rejects. */
  async prepare(record: WithSchemas, side: SchemaSide = 'input'): Promise<CompiledSchema> {
    const ready = this.get(record, side)
    if (ready !== null) return ready
    const schema = (side === 'input' ? record.inputSchema : record.outputSchema) as JsonObject
    let pending = this.#pending.get(schema)
    if (pending === undefined) {
      pending = compileSchema(schema, side).then((compiled) => {
        this.#ready.set(schema, compiled)
        return compiled
      })
      this.#pending.set(schema, pending)
    }
    return pending
  }
}

async function compileSchema(schema: JsonObject, side: SchemaSide): Promise<CompiledSchema> {
  const measured = measureSchema(schema)
  if (typeof measured === 'string') return off(side, measured)
  if (side === 'input' && schema.type !== undefined && ![schema.type].flat().includes('object'))
    return off(side, 'accepts no object, and arguments are always one')
  const load = dialectOf(schema)
  if (load === null) return off(side, `is written in a dialect that is not known here, ${JSON.stringify(schema.$schema).slice(0, 80)}`)
  const plain = plainSchema(schema) as JsonObject
  const exact = TURNS_AROUND.some((keyword) => measured.keys.has(keyword))
  const giveUp = (): boolean => {
    if (exact) throw GIVE_UP
    return true
  }
  const notes: string[] = []
  try {
    const Dialect = await load()
    const validate = withinTime(COMPILE_LIMIT_MS, () => compiler(Dialect, giveUp, notes).compile(plain))
    const watched = measured.bytes > SMALL || COSTLY.some((keyword) => measured.keys.has(keyword))
    return new LiveSchema(validate, side, watched, notes)
  } catch (error) {
    return off(side, isTimeLimit(error) ? 'takes too long to compile' : `cannot be compiled: ${oneLine(error)}`)
  }
}

/** One compiler for each schema, so that the memory of it goes with the schema. */
function compiler(Dialect: Dialect, giveUp: () => boolean, notes: string[]): Compiler {
  const regExp = Object.assign((pattern: string, flags: string) => guardPattern(pattern, flags, giveUp, (line) => notes.push(line)), {
    code: 'new RegExp',
  })
  const made = new Dialect({
    strict: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    addUsedSchema: false,
    inlineRefs: false,
    ownProperties: true,
    logger: false,
    code: { regExp },
  })
  // The original compares every item with every other one.
  made.removeKeyword('uniqueItems')
  made.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    error: { message: 'must not have an item twice' },
    validate: (on, items) => !on || new Set(items.map(canonicalJson)).size === items.length,
  })
  return made
}

const draft2020 = async (): Promise<Dialect> => (await import('ajv/dist/2020.js')).Ajv2020
const draft2019 = async (): Promise<Dialect> => (await import('ajv/dist/2019.js')).Ajv2019
const draft07 = async (): Promise<Dialect> => (await import('ajv/dist/ajv.js')).Ajv

/** Without `$schema` it is 2020-12, as MCP says, unless it has what only older generators write. null: none that is known. */
function dialectOf(schema: JsonObject): (() => Promise<Dialect>) | null {
  const name = schema.$schema
  if (typeof name !== 'string') return hasTuple(schema) ? draft07 : draft2020
  if (/^https?:\/\/json-schema\.org\/(?:draft\/2020-12\/)?schema#?$/.test(name)) return draft2020
  if (/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/.test(name)) return draft2019
  return /^https?:\/\/json-schema\.org\/draft-0[467]\/schema#?$/.test(name) ? draft07 : null
}

class LiveSchema implements CompiledSchema {
  readonly notes: readonly string[]
  readonly #validate: ValidateFunction
  readonly #side: SchemaSide
  readonly #watched: boolean
  #timeOuts = 0
  #disabled: string | null = null

  constructor(validate: ValidateFunction, side: SchemaSide, watched: boolean, notes: readonly string[]) {
    this.#validate = validate
    this.#side = side
    this.#watched = watched
    this.notes = [...new Set(notes)]
  }

  get disabled(): string | null {
    return this.#disabled
  }

  check(value: Json): string | null {
    if (this.#disabled !== null) return null
    const root = ROOT[this.#side]
    try {
      const fits = this.#watched ? withinTime(CHECK_LIMIT_MS, () => this.#validate(value)) : this.#validate(value)
      return fits ? null : describeErrors(this.#validate.errors ?? [], root)
    } catch (error) {
      if (error === GIVE_UP) return null
      // Once can be the machine, which was busy or asleep.
      if (isTimeLimit(error) && (this.#timeOuts += 1) === 1) return null
      if (error instanceof RangeError && isDeeperThan(value, ORDINARY_DEPTH)) return `${root}: nested too deeply to be checked`
      this.#disabled = reason(
        this.#side,
        isTimeLimit(error)
          ? 'takes too long to check a value'
          : `cannot be used: ${error instanceof RangeError ? 'it refers to itself without end' : oneLine(error)}`,
      )
      return null
    }
  }
}

function isDeeperThan(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member: Json) => isDeeperThan(member, levels - 1))
}

const ROOT: Readonly<Record<SchemaSide, string>> = { input: 'arguments', output: 'structuredContent' }

const reason = (side: SchemaSide, what: string): string => `the ${side} schema ${what}`
const off = (side: SchemaSide, what: string): CompiledSchema => Object.freeze({ ...FITS, disabled: reason(side, what) })
const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 200)
