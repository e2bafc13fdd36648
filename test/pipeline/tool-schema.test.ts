import { createServer } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ToolRecord } from '../../src/connections/connection.ts'
import type { Json, JsonObject } from '../../src/json.ts'
import { digest } from '../../src/json.ts'
import { patternRisk } from '../../src/pipeline/pattern-guard.ts'
import type { CompiledSchema, SchemaSide } from '../../src/pipeline/tool-schema.ts'
import { SchemaChecker } from '../../src/pipeline/tool-schema.ts'

function tool(inputSchema: JsonObject, outputSchema: JsonObject | null = null): ToolRecord {
  const raw = { name: 't', inputSchema, ...(outputSchema && { outputSchema }) }
  return { name: 't', raw, title: '', description: '', annotations: {}, inputSchema, outputSchema, digest: digest(raw) }
}
const compile = (schema: JsonObject, side: SchemaSide = 'input'): Promise<CompiledSchema> =>
  new SchemaChecker().prepare(side === 'input' ? tool(schema) : tool({}, schema), side)
const object = (properties: JsonObject = {}, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more })
const string: JsonObject = { type: 'string' }

describe('what is wrong, in one line', () => {
  test.each<[JsonObject, JsonObject, string]>([
    [object({ a: string }), { a: 5 }, 'arguments.a must be string'],
    [object({ a: string }, { required: ['a'] }), {}, 'arguments must have the property "a"'],
    [object({ a: string }, { additionalProperties: false }), { b: 1 }, 'arguments must not have the property "b"'],
    [object({ a: true, b: false }), { b: 1 }, 'arguments.b is not allowed'],
    [object({ a: { enum: ['x', 'y'] } }), { a: 'z' }, 'arguments.a must be one of "x", "y"'],
    [object({ a: { const: 1 } }), { a: 2 }, 'arguments.a must be 1'],
    [object({ a: { type: ['string', 'null'] } }), { a: 1 }, 'arguments.a must be string,null'],
    [
      object({ a: { type: 'array', items: object({ 'x/y~ z': string }) } }),
      { a: [{}, { 'x/y~ z': 1 }] },
      'arguments.a[1]["x/y~ z"] must be string',
    ],
    [object({ r: { $ref: '#/$defs/R' } }, { $defs: { R: object({ k: string }) } }), { r: { k: 1 } }, 'arguments.r.k must be string'],
    [
      object({ t: { $ref: '#/$defs/N' } }, { $defs: { N: object({ kids: { type: 'array', items: { $ref: '#/$defs/N' } } }) } }),
      { t: { kids: [{ kids: 'no' }] } },
      'arguments.t.kids[0].kids must be array',
    ],
    [
      object({}, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      {},
      'arguments must match exactly one schema in oneOf (arguments must have the property "a"; arguments must have the property "b")',
    ],
    [
      JSON.parse(
        '{"properties":{"m":{"type":"string"}},"if":{"properties":{"m":{"const":"x"}},"required":["m"]},"then":{"required":["y"]}}',
      ) as JsonObject,
      { m: 'x' },
      'arguments must have the property "y"',
    ],
    [
      object({ a: { type: 'array', uniqueItems: true } }),
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
      'arguments.a must not have an item twice',
    ],
    [object({ 'a\nb': string }), { 'a\nb': 1 }, 'arguments["a\\nb"] must be string'],
    [object({ s: { type: 'string', pattern: '^[a-z]+$' } }), { s: 'A' }, 'arguments.s must match pattern "^[a-z]+$"'],
  ])('%j with %j', async (schema, args, line) => {
    const compiled = await compile(schema)
    expect(compiled.disabled).toBeNull()
    expect(compiled.check(args)).toBe(line)
  })

  test('values never show, and the line is bounded', async () => {
    const compiled = await compile(object({ a: { type: 'number' } }))
    expect(compiled.check({ a: 'tok-secret-456' })).not.toContain('tok-secret')
    const long = 'x'.repeat(5000)
    expect((await compile(object({ [long]: string }))).check({ [long]: 1 })?.length).toBeLessThan(500)
  })
})

describe('what fits', () => {
  test.each<[JsonObject, JsonObject]>([
    [object({ a: string }), { a: 'x' }],
    [object({ a: string }), { other: 1 }],
    [object({}, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }), { a: 1 }],
    [
      object({
        a: { type: ['string', 'null'] },
        l: { type: ['array', 'null'], items: { type: ['object', 'null'], properties: { v: true } } },
      }),
      { a: null, l: [null, { v: 1 }] },
    ],
    [object({ e: { type: 'string', format: 'email' } }), { e: 'no address' }],
    [object({ a: { type: 'array', uniqueItems: true } }), { a: [1, '1', [1], { a: 1 }] }],
    [
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"b":{"type":"string"}}}') as JsonObject,
      JSON.parse('{"__proto__":"x"}') as JsonObject,
    ],
    // names that every JavaScript object inherits
    [object({ constructor: string, toString: string, a: string }), { a: 'x' }],
    [{ type: ['object', 'null'], properties: { a: string } }, { a: 'x' }],
    [object({ a: { nullable: true, type: 'string' } }), { a: 'x' }],
    [object({ a: { type: 'string', pattern: '^\\-\\_$' } }), { a: '-_' }],
  ])('%j with %j', async (schema, args) => {
    const compiled = await compile(schema)
    expect(compiled.disabled).toBeNull()
    expect(compiled.check(args)).toBeNull()
  })

  test('an inherited name does not count as present', async () => {
    expect((await compile(object({}, { required: ['toString'] }))).check({})).toBe('arguments must have the property "toString"')
  })

  test('the value is left as it is: no defaults, no coercion, frozen or not', async () => {
    const args = Object.freeze({ a: '5' })
    const compiled = await compile(object({ a: { type: 'number' }, b: { type: 'string', default: 'x' } }))
    expect(compiled.check(args)).toBe('arguments.a must be number')
    expect(args).toEqual({ a: '5' })
  })
})

describe('schemas that say nothing', () => {
  const trivial: JsonObject[] = [
    {},
    { type: 'object' },
    object(),
    { $schema: 'urn:x', ...object() },
    object(
      { a: {}, b: true, c: { title: 'C', description: 'any', default: 1 } },
      { title: 'T', required: [], additionalProperties: true, $defs: { X: string } },
    ),
  ]
  test.each(trivial)('%j needs no compiling: it is there at once', (schema) => {
    const compiled = new SchemaChecker().get(tool(schema))
    expect(compiled).toMatchObject({ disabled: null, notes: [] })
    expect(compiled?.check({ a: 1, anything: [2] })).toBeNull()
  })

  test('what constrains anything has to be prepared', () => {
    for (const schema of [
      object({ a: string }),
      object({}, { required: ['a'] }),
      object({}, { additionalProperties: false }),
      object({ a: false }),
      { type: 'string' },
      { anyOf: [] },
    ]) {
      expect(new SchemaChecker().get(tool(schema))).toBeNull()
    }
  })

  test('an output schema with no more than a type still wants an object', () => {
    const compiled = new SchemaChecker().get(tool({}, { type: 'object' }), 'output')
    expect(compiled?.check({})).toBeNull()
    expect(compiled?.check([1])).toBe('structuredContent must be object')
    expect(new SchemaChecker().get(tool({}, { description: 'x' }), 'output')?.check([1])).toBeNull()
    expect(new SchemaChecker().get(tool({}), 'output')?.check('anything')).toBeNull()
  })
})

describe('output schemas', () => {
  test('are checked like input schemas, of any root type', async () => {
    const numbers = await compile({ type: 'array', items: { type: 'number' } }, 'output')
    expect(numbers.check([1])).toBeNull()
    expect(numbers.check([1, 'x'])).toBe('structuredContent[1] must be number')
    const wrong = await compile(object({ n: { type: 'number' } }, { required: ['n'] }), 'output')
    expect(wrong.check({ n: 1, more: true })).toBeNull()
    expect(wrong.check({ n: 'one' })).toBe('structuredContent.n must be number')
  })

  test('both sides of one record are kept apart', async () => {
    const record = tool(object({ a: string }), object({ a: { type: 'number' } }))
    const checker = new SchemaChecker()
    const [input, output] = await Promise.all([checker.prepare(record), checker.prepare(record, 'output')])
    expect(input.check({ a: 1 })).toBe('arguments.a must be string')
    expect(output.check({ a: 'x' })).toBe('structuredContent.a must be number')
  })
})

test('each schema is compiled once, and then there synchronously', async () => {
  const checker = new SchemaChecker()
  const record = tool(object({ a: string }))
  expect(checker.get(record)).toBeNull()
  const [one, two] = await Promise.all([checker.prepare(record), checker.prepare(record)])
  expect(one).toBe(two)
  expect(checker.get(record)).toBe(one)
  expect(await checker.prepare(record)).toBe(one)
})

describe('dialects', () => {
  const tuple = { type: 'array', items: [string, { type: 'number' }] }
  test.each([
    ['http://json-schema.org/draft-07/schema#', object({ a: tuple })],
    ['http://json-schema.org/draft-07/schema', object({ a: tuple })],
    ['http://json-schema.org/draft-06/schema#', object({ a: tuple })],
    ['http://json-schema.org/draft-04/schema#', { id: 'urn:old', ...object({ a: { id: '#a', ...tuple } }) }],
    ['https://json-schema.org/draft/2019-09/schema', object({ a: tuple })],
    ['https://json-schema.org/draft/2020-12/schema', object({ a: { type: 'array', prefixItems: [string, { type: 'number' }] } })],
    [undefined, object({ a: tuple })],
    [undefined, object({ a: { type: 'array', prefixItems: [string, { type: 'number' }] } })],
  ])('%s', async ($schema, schema) => {
    const compiled = await compile({ ...($schema && { $schema }), ...schema })
    expect(compiled.disabled).toBeNull()
    expect(compiled.check({ a: ['x', 1] })).toBeNull()
    expect(compiled.check({ a: ['x', 'y'] })).toBe('arguments.a[1] must be number')
  })

  test('one that nobody knows switches the check off', async () => {
    expect((await compile({ $schema: 'urn:x', ...object({ a: string }) })).disabled).toBe(
      'the input schema is written in a dialect that is not known here, "urn:x"',
    )
  })
})

describe('$id', () => {
  test('never clashes: two tools may have the same, also inside', async () => {
    const schema = (type: string): JsonObject => ({
      $id: 'https://example.com/s',
      ...object({ a: { $id: 'https://example.com/a', type } }),
    })
    const checker = new SchemaChecker()
    const [one, two] = [await checker.prepare(tool(schema('string'))), await checker.prepare(tool(schema('number')))]
    expect([one.disabled, two.disabled]).toEqual([null, null])
    expect(one.check({ a: 1 })).toBe('arguments.a must be string')
    expect(two.check({ a: 1 })).toBeNull()
  })

  test('is kept where it is the name of a property, or a value', async () => {
    const compiled = await compile(
      object({ $id: string, id: { type: 'number' }, c: { const: { $id: 'x' } } }, { additionalProperties: false }),
    )
    expect(compiled.check({ $id: 'x', id: 1, c: { $id: 'x' } })).toBeNull()
    expect(compiled.check({ $id: 1 })).toBe('arguments.$id must be string')
    expect(compiled.check({ c: {} })).toContain('arguments.c must be')
  })

  test('the record keeps the schema as the server gave it', async () => {
    const schema = { $id: 'urn:a', ...object({ a: string }) }
    const before = JSON.stringify(schema)
    await compile(schema)
    expect(JSON.stringify(schema)).toBe(before)
  })
})

describe('a schema that cannot be used costs only its own check', () => {
  let deep: JsonObject = string
  for (let i = 0; i < 300; i += 1) deep = object({ x: deep })
  const chain: Record<string, Json> = { d0: object({ z: string }) }
  for (let i = 1; i <= 40; i += 1) chain[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] }

  test.each<[string, JsonObject, RegExp]>([
    ['a bad pattern', object({ a: { type: 'string', pattern: '(' } }), /cannot be compiled: Invalid regular expression/],
    ['an unknown type', object({ a: { type: 'text' } }), /cannot be compiled: type must be/],
    ['a keyword of the wrong type', object({ a: { minLength: 'x' } }), /cannot be compiled: minLength/],
    ['a reference into nothing', object({ a: { $ref: '#/$defs/none' } }), /cannot be compiled: can't resolve reference/],
    ['300 levels', deep, /is nested more than 64 levels deep/],
    ['300 KiB', object({ a: { enum: ['x'.repeat(300 * 1024)] } }), /is larger than 256 KiB/],
    ['a root that is no object', string, /accepts no object/],
    ['a root that is null or text', { type: ['string', 'null'] }, /accepts no object/],
  ])('%s', async (_, schema, disabled) => {
    const compiled = await compile(schema)
    expect(compiled.disabled).toMatch(disabled)
    expect(compiled.disabled).not.toMatch(/\n/)
    expect(compiled.check({ a: 5 })).toBeNull()
  })

  test('a reference to another machine is not followed', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const compiled = await compile(object({ a: { $ref: `http://127.0.0.1:${port}/never.json` } }))
    await new Promise((resolve) => setTimeout(resolve, 50))
    server.close()
    expect(compiled.disabled).toMatch(/can't resolve reference/)
    expect(connections).toBe(0)
  })

  test.each<JsonObject>([
    { $ref: '#' },
    object({ a: string }, { $dynamicRef: '#x' }),
    { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } } },
  ])('a reference to itself: %j', async (schema) => {
    const compiled = await compile(schema)
    expect(compiled.check({ a: 5 })).toBeNull()
    expect(compiled.disabled).toMatch(/the input schema cannot be (?:used: it refers to itself without end|compiled)/)
  })

  test('$async does not make a promise of the answer', async () => {
    const compiled = await compile({ $async: true, ...object({ a: string }) })
    expect(compiled.check({ a: 1 })).toBe('arguments.a must be string')
  })

  test('references that double at every step end at a limit', async () => {
    const compiled = await compile(object({ a: { $ref: '#/$defs/d40' } }, { $defs: chain }))
    for (let call = 0; call < 2; call += 1) expect(compiled.check({ a: { z: 'x' } })).toBeNull()
    expect(compiled.disabled).toMatch(/takes too long/)
    expect(compiled.check({ a: 5 })).toBeNull()
  })

  test('arguments that are nested beyond the stack are refused, and the next ones are checked', async () => {
    const schema = object({ t: { $ref: '#/$defs/N' } }, { $defs: { N: { type: 'array', items: { $ref: '#/$defs/N' } } } })
    const nested = JSON.parse(`{"t":${'['.repeat(50_000)}${']'.repeat(50_000)}}`) as JsonObject
    let compiled = await compile(schema)
    let problem = compiled.check(nested)
    // null: the machine was too busy for the limit of a check, which is let through once
    for (let tries = 0; problem === null && tries < 20; tries++) {
      compiled = await compile(schema)
      problem = compiled.check(nested)
    }
    expect(problem).toBe('arguments: nested too deeply to be checked')
    expect(compiled.check({ t: [[5]] })).toBe('arguments.t[0][0] must be array')
  })

  test('any JSON as a schema: no throw, no hang', async () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'items',
      'required',
      'anyOf',
      'oneOf',
      'not',
      'if',
      'then',
      '$ref',
      '$defs',
      'pattern',
      'patternProperties',
      'enum',
      'const',
      'minLength',
      '$id',
      '$anchor',
      'uniqueItems',
      'dependentRequired',
      'contains',
      '__proto__',
      'discriminator',
      'unevaluatedProperties',
    )
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<Json>(null, true, 5, 'object', 'string', '#', '#/properties/a', '^a', 'a'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.oneof(keyword, fc.constantFrom('a', 'b')), tie('value'), { maxKeys: 4 }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(keyword, value, { maxKeys: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), value),
        async (schema, args) => {
          for (const side of ['input', 'output'] as const) {
            const compiled = await compile(schema, side)
            const line = compiled.check(args)
            expect(line === null || (typeof line === 'string' && !line.includes('\n'))).toBe(true)
            expect(compiled.disabled ?? '').not.toMatch(/\n/)
          }
        },
      ),
      { numRuns: 150 },
    )
  }, 60_000)
})

describe('patterns', () => {
  test.each([
    '^(a+)+$',
    '(a*)*b',
    '([a-z]+)*',
    '(?:a+){20}',
    '(x(a+)y?)+',
    '((a+)b)*',
    '(a+)\\1',
    '(?<n>a)\\k<n>',
    'a'.repeat(513),
    '(a+|b)*',
    '([)(]+)+',
  ])('%s is not tried', (pattern) => {
    expect(patternRisk(pattern)).not.toBeNull()
  })

  test.each([
    '^[a-z]+$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^(\\d+\\.){3}\\d+$',
    '(foo|bar)+',
    '^https?://[^\\s/]+/.*$',
    '[(a+)]+',
    '\\(a+\\)+',
    '(?=.*\\d).{8,}',
    '^(a+)?$',
    '',
    '(',
    '[',
    '\\',
    ')*',
    'a{,5}',
  ])('%s is', (pattern) => {
    expect(patternRisk(pattern)).toBeNull()
  })

  test('any text can be looked at', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'()[]{}*+?|\\^$.,1ak<>:=!-'.split('')) }), (pattern) => {
        expect([null, expect.any(String)]).toContainEqual(patternRisk(pattern))
      }),
    )
  })

  test('one that is not tried leaves the rest of the check, with a note', async () => {
    const compiled = await compile(object({ a: { type: 'string', pattern: '^(a+)+$' }, b: string }))
    expect(compiled.disabled).toBeNull()
    expect(compiled.notes).toEqual(['the pattern "^(a+)+$" repeats a group that repeats itself; it is not checked'])
    expect(compiled.check({ a: `${'a'.repeat(40)}!` })).toBeNull()
    expect(compiled.check({ a: 5 })).toBe('arguments.a must be string')
    expect(compiled.check({ a: 'x', b: 5 })).toBe('arguments.b must be string')
  })

  test('where leaving it out could turn the answer around, nothing is said', async () => {
    const evil = { type: 'string', pattern: '^(a+)+$' }
    for (const [schema, value] of [
      [{ not: evil }, 'x'],
      [{ oneOf: [evil, { type: 'string', minLength: 1 }] }, 'x'],
      [{ type: 'object', patternProperties: { '^(a+)+$': false } }, { b: 1 }],
    ] as const) {
      const compiled = await compile(object({ a: schema, z: string }))
      expect(compiled).toMatchObject({ disabled: null, notes: [expect.stringContaining('is not checked')] })
      expect(compiled.check({ a: value })).toBeNull()
      expect(compiled.check({ z: 5 })).toBe('arguments.z must be string')
    }
  })

  test('a text of more than 10,000 characters is not matched', async () => {
    const compiled = await compile(object({ a: { type: 'string', pattern: '^[a-z]+$' } }))
    expect(compiled.check({ a: '1' })).not.toBeNull()
    expect(compiled.check({ a: '1'.repeat(10_001) })).toBeNull()
  })

  test('one that only looks harmless is cut off, and the second time the check stays off', async () => {
    const compiled = await compile(object({ a: { type: 'string', pattern: '^(a|a)*$' } }))
    expect(compiled.notes).toEqual([])
    expect(compiled.check({ a: `${'a'.repeat(60)}!` })).toBeNull()
    expect(compiled.check({ a: '!' })).toContain('must match pattern')
    expect(compiled.check({ a: `${'a'.repeat(60)}!` })).toBeNull()
    expect(compiled.disabled).toBe('the input schema takes too long to check a value')
    expect(compiled.check({ a: 5 })).toBeNull()
  })

  test('two patterns of one schema are not mixed up', async () => {
    const compiled = await compile(object({ a: { type: 'string', pattern: '^a$' }, b: { type: 'string', pattern: '^b$' } }))
    expect(compiled.check({ a: 'a', b: 'b' })).toBeNull()
    expect(compiled.check({ a: 'b', b: 'b' })).toContain('arguments.a')
    expect(compiled.check({ a: 'a', b: 'a' })).toContain('arguments.b')
  })
})

test('uniqueItems over many objects takes no quadratic time', async () => {
  const compiled = await compile(object({ a: { type: 'array', uniqueItems: true } }))
  const started = performance.now()
  expect(compiled.check({ a: Array.from({ length: 50_000 }, (_, id) => ({ id, x: [id] })) })).toBeNull()
  expect(performance.now() - started).toBeLessThan(5000)
})
