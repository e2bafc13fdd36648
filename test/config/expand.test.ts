import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Expansion } from '../../src/config/expand.ts'
import { Secrets } from '../../src/secrets.ts'
import { loadText, server } from './files.ts'

test('a value is put in as it is and never expanded again', () => {
  const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,3}$/)
  const value = fc.oneof(
    fc.string(),
    name.map((other) => `\${${other}}`),
    fc.tuple(name, fc.string()).map(([other, rest]) => `\${${other}:-${rest}}`),
  )
  const part = fc.oneof(
    fc.record({ kind: fc.constant('literal' as const), text: fc.string().map((text) => text.replaceAll('${', '$(')) }),
    fc.record({ kind: fc.constant('variable' as const), name }),
    fc.record({ kind: fc.constant('default' as const), name, fallback: fc.string().map((text) => text.replaceAll('}', ')')) }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), fc.dictionary(name, value, { noNullPrototype: true }), (parts, env) => {
      let written = ''
      let expected = ''
      const missing = new Set<string>()
      for (const one of parts) {
        if (one.kind === 'literal') {
          // a literal that ends in $ would make a reference with what follows
          const text = one.text.replace(/\$+$/, '')
          written += text
          expected += text
          continue
        }
        const found = Object.hasOwn(env, one.name) ? env[one.name] : undefined
        if (one.kind === 'variable') {
          written += `\${${one.name}}`
          expected += found ?? `\${${one.name}}`
          if (found === undefined) missing.add(one.name)
        } else {
          written += `\${${one.name}:-${one.fallback}}`
          expected += found || one.fallback
        }
      }
      const expansion = new Expansion(env, new Secrets())
      expect(expansion.text(written)).toBe(expected)
      expect([...expansion.missing].sort()).toEqual([...missing].sort())
    }),
    { numRuns: 2_000 },
  )
})

test('what is no reference stays: a bare $VAR, an empty one, a shell form', () => {
  const expansion = new Expansion({ A: 'x' }, new Secrets())
  for (const text of ['$A', '${}', '${A%%.*}', '${input:key}', '$${', '${A', '${1}']) expect(expansion.text(text)).toBe(text)
  expect(expansion.missing.size).toBe(0)
  expect(expansion.text('$${A}-${A}${A}')).toBe('$x-xx')
})

test('a variable of Object.prototype is not there', () => {
  const expansion = new Expansion({}, new Secrets())
  expect(expansion.text('${constructor}${__proto__}')).toBe('${constructor}${__proto__}')
  expect([...expansion.missing]).toEqual(['constructor', '__proto__'])
})

const env = { TOKEN: 'tok-456', OUTER: '${TOKEN}', PASSED_ON: 'passed', MY_SECRET: 'hush-hush', PARENT_SECRET: 'ps-123' }

test('command, args, env, cwd, url and headers are expanded, and nothing else', async () => {
  const loaded = await loadText(
    {
      mcpServers: {
        ok: {
          command: '${CMD:-node}',
          args: ['--t=${TOKEN}', '$TOKEN', '${OUTER}'],
          env: { API_TOKEN: '${TOKEN}', DEF: '${NOPE_A:-dflt}', EMPTY: '', HALF: 'a-${TOKEN}-b' },
          env_vars: ['PASSED_ON'],
          disabledTools: ['${TOKEN}'],
        },
        web: { url: 'http://127.0.0.1:9/${PASSED_ON}', headers: { A: '${PASSED_ON}' } },
        '${TOKEN}': { command: 'x' },
      },
      features: { f: '${TOKEN}' },
    },
    { env },
  )
  expect(server(loaded, 'ok').launch).toMatchObject({
    command: 'node',
    args: ['--t=tok-456', '$TOKEN', '${TOKEN}'],
    env: { API_TOKEN: 'tok-456', DEF: 'dflt', EMPTY: '', HALF: 'a-tok-456-b' },
    envVars: ['PASSED_ON'],
  })
  expect(server(loaded, 'web').launch).toMatchObject({ url: 'http://127.0.0.1:9/passed', headers: { A: 'passed' } })
  expect([...server(loaded, 'ok').policy.disabledTools]).toEqual(['${TOKEN}'])
  expect(loaded.features[0]?.value).toBe('${TOKEN}')
  expect(loaded.diagnostics).toMatchObject([{ message: expect.stringContaining('is no name for a server') }])
})

test('all missing variables of one server are in one error; the others go on', async () => {
  const loaded = await loadText({
    mcpServers: {
      ok: { command: 'node' },
      missing: { command: 'node', args: ['${NOPE_B}', '${NOPE_B}'], env: { T: '${NOPE_A}' } },
      off: { command: '${NOPE_C}', enabled: false },
    },
  })
  expect(server(loaded, 'ok').problem).toBeNull()
  expect(server(loaded, 'missing').problem).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/server missing .*NOPE_A, NOPE_B|server missing .*NOPE_B, NOPE_A/),
    data: { missing: expect.arrayContaining(['NOPE_A', 'NOPE_B']) },
  })
  expect(server(loaded, 'off').problem).toBeNull()
  expect(loaded.diagnostics).toEqual([])
})

test('expanded values, and values of variables whose name says so, are secret', async () => {
  const secrets = new Secrets()
  await loadText(
    {
      mcpServers: {
        a: {
          command: 'node',
          args: ['${TOKEN}'],
          env: { API_KEY: 'literal-key', MODE: 'production', PASSWORD: '${PW:-changeme}' },
          envVars: ['MY_SECRET', 'PASSED_ON'],
        },
      },
    },
    { env, secrets },
  )
  for (const secret of ['tok-456', 'literal-key', 'hush-hush', 'changeme']) expect(secrets.redact(`(${secret})`)).toBe('([redacted])')
  for (const open of ['production', 'passed', 'ps-123', 'MY_SECRET']) expect(secrets.redact(open)).toBe(open)
})
