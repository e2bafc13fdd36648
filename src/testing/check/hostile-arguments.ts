/** Arguments as a model, or who speaks through it, may send them. */
import type { JsonObject } from '../../json.ts'

const DEPTH = 500
const LONG = 200_000
const MANY = 5_000

/** Name → arguments. All of it is JSON. */
export function hostileArguments(): readonly (readonly [string, JsonObject])[] {
  return [
    ['empty', {}],
    ['deep', { text: nested(DEPTH) }],
    ['long', { text: 'a'.repeat(LONG) }],
    ['wide', Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`key${at}`, at]))],
    ['list', { items: Array.from({ length: MANY }, (_, at) => at) }],
    ['prototype', parsed('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"text":"x"}')],
    ['nested prototype', parsed('{"options":{"__proto__":{"polluted":true}},"text":"x"}')],
    ['methods', parsed('{"toString":1,"hasOwnProperty":null,"toJSON":"x","then":"x","length":-1,"valueOf":{}}')],
    ['owner', { server: 'other', environment_id: 'beta', tool: 'other', owner: { name: 'other' }, key: 1, namespace: 'x' }],
    [
      'unicode',
      { text: 'a\u0000b \u202eright to left\u202c \u200b \ufeff \u2028 💥 \u{1f468}\u200d\u{1f469} e\u0301', '\u0000': 1, ключ: 'ü' },
    ],
    ['half a character', { text: '\ud800', '\udfff': 'x' }],
    ['numbers', { n: 1e308, small: 5e-324, big: Number.MAX_SAFE_INTEGER, below: -1, part: 0.1 + 0.2 }],
    ['nothing', { text: null, path: null, command: null, url: null, query: null, content: null }],
    ['wrong types', { text: 5, path: [], command: {}, url: false, query: ['a', null], content: [[]], options: 'x', limit: 'x' }],
    ['texts of others', { text: "'; DROP TABLE notes; --", command: '$(rm -rf /) `id` && x', path: '../../../../etc/passwd\u0000.txt' }],
    ['addresses', { url: 'http://169.254.169.254/latest/meta-data', path: '\\\\host\\share', uri: 'file:///etc/shadow' }],
    ['terminal', { text: '\u001b[2J\u001b]0;title\u0007', name: '\r\nX-Header: 1' }],
    ['expressions', { text: `${'a'.repeat(200)}!`, pattern: '(a+)+$', glob: '**/*'.repeat(50), template: '${process.exit(1)}{{7*7}}' }],
    ['empty texts', { text: '', path: '', command: ' ', '': '' }],
    ['mixed', { items: [1, 'a', null, true, [], {}, [[{ a: [] }]]], a: { b: { c: [{ d: 1 }] } } }],
  ]
}

/** Arguments that any tool could have been called with. */
export const PLAIN_ARGUMENTS: JsonObject = {
  text: ' hello ',
  path: 'src/index.ts',
  command: 'ls -la',
  url: 'https://example.com/a?b=c',
  query: 'select 1',
  limit: 10,
  options: { recursive: true, tags: ['a', 'b'] },
}

function nested(depth: number): JsonObject {
  let value: JsonObject = { end: 'here' }
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? { a: value } : { list: [value] }
  return value
}

/** By way of a text, because a literal `__proto__` is no key, and nobody writes a `then` without meaning it. */
const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject
