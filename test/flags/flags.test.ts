import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isTaplineError } from '../../src/errors.ts'
import type { TaplineError } from '../../src/errors.ts'
import { captureFlags } from '../../src/flags/capture.ts'
import { defineFlag } from '../../src/flags/define-flag.ts'
import type { CapturedFlags } from '../../src/flags/flag.ts'
import { MULTI_ENVIRONMENT_MCP } from '../../src/flags/multi-environment-mcp.ts'
import { FlagRegistry } from '../../src/flags/registry.ts'

const mode = defineFlag({
  name: 'guard_mode',
  variants: ['off', 'shadow', 'enforce'],
  default: 'enforce',
  description: 'how the guard is applied',
})
const registry = new FlagRegistry([mode])

function thrown(run: () => unknown): TaplineError {
  try {
    run()
  } catch (error) {
    if (isTaplineError(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** True where every value is one of its flag, or the error is one of the two. */
function fine(capture: () => CapturedFlags): boolean {
  try {
    const flags = capture()
    return typeof flags.get(MULTI_ENVIRONMENT_MCP) === 'boolean' && ['off', 'shadow', 'enforce'].includes(flags.get(mode))
  } catch (error) {
    return isTaplineError(error) && ['FLAG_UNKNOWN', 'FLAG_BAD_VALUE'].includes(error.code)
  }
}

describe('a flag', () => {
  test('is frozen and experimental unless it says otherwise', () => {
    expect(mode).toEqual({
      name: 'guard_mode',
      default: 'enforce',
      description: 'how the guard is applied',
      stage: 'experimental',
      variants: ['off', 'shadow', 'enforce'],
    })
    expect(Object.isFrozen(mode) && Object.isFrozen(mode.variants)).toBe(true)
    expect(MULTI_ENVIRONMENT_MCP).toMatchObject({ name: 'multi_environment_mcp', default: false, stage: 'experimental' })
  })

  test('cannot have a default that is no variant, or a name that no variable can have', () => {
    // @ts-expect-error 'on' is not a variant
    const error = thrown(() => defineFlag({ name: 'm', variants: ['off', 'shadow'], default: 'on', description: '' }))
    expect([error.code, error.message]).toEqual([
      'FLAG_BAD_VALUE',
      'the default of the flag "m" is "on", which is not one of "off", "shadow"',
    ])
    for (const name of ['', '1st', 'a b', 'x'.repeat(129), '__proto__'])
      expect(thrown(() => defineFlag({ name, default: false, description: '' })).code).toBe('FLAG_BAD_VALUE')
  })
})

describe('the registry', () => {
  test('has the built-in flag and the defined ones, by name', () => {
    expect([...registry].map(({ name }) => name)).toEqual(['guard_mode', 'multi_environment_mcp'])
    expect(registry.get('guard_mode')).toBe(mode)
  })

  test('refuses two flags of one name, and two that have one variable', () => {
    const other = defineFlag({ name: 'guard_mode', default: false, description: 'another one' })
    expect(thrown(() => new FlagRegistry([mode, other]))).toMatchObject({
      code: 'FLAG_BAD_VALUE',
      message: 'the flag "guard_mode" is defined twice',
    })
    const built = defineFlag({ name: 'multi_environment_mcp', default: true, description: 'a second one' })
    expect(thrown(() => new FlagRegistry([built])).code).toBe('FLAG_BAD_VALUE')
    const dashed = defineFlag({ name: 'guard-mode', default: false, description: '' })
    expect(thrown(() => new FlagRegistry([mode, dashed])).message).toContain('TAPLINE_FLAG_GUARD_MODE')
    expect([...new FlagRegistry([mode, mode, MULTI_ENVIRONMENT_MCP])]).toHaveLength(2)
  })

  test('an unknown name is an error with the nearest one', () => {
    expect(thrown(() => registry.get('multi_enviroment_mcp'))).toMatchObject({
      code: 'FLAG_UNKNOWN',
      message: 'there is no flag "multi_enviroment_mcp": did you mean "multi_environment_mcp"?',
    })
    expect(thrown(() => registry.get('zzz')).message).toBe('there is no flag "zzz"')
    expect(thrown(() => registry.get('__proto__')).code).toBe('FLAG_UNKNOWN')
  })
})

describe('capturing', () => {
  const features = [{ name: 'guard_mode', value: 'shadow', where: 'tapline.json:3:5' }]

  test('takes the strongest source: override, variable, configuration, default', () => {
    const variables = { TAPLINE_FLAG_GUARD_MODE: 'off', PATH: '/bin', TAPLINE_TARGETING_KEY: 'me' }
    const of = (sources: Parameters<typeof captureFlags>[1]): unknown => {
      const { value, source, reason } = captureFlags(registry, sources).details(mode)
      return [value, source, reason]
    }
    expect(of({})).toEqual(['enforce', 'default', 'DEFAULT'])
    expect(of({ features })).toEqual(['shadow', 'configuration', 'STATIC'])
    expect(of({ features, variables })).toEqual(['off', 'environment_variable', 'STATIC'])
    expect(of({ features, variables, override: { guard_mode: 'enforce' } })).toEqual(['enforce', 'override', 'STATIC'])
    expect(of({ features: [...features, { name: 'guard_mode', value: 'off', where: 'stronger.json:1:1' }] })).toEqual([
      'off',
      'configuration',
      'STATIC',
    ])
  })

  test.each([
    ['on', true],
    ['TRUE', true],
    ['1', true],
    ['off', false],
    ['False', false],
    ['0', false],
  ])('a switch reads %s as %s', (text, value) => {
    expect(captureFlags(registry, { variables: { TAPLINE_FLAG_MULTI_ENVIRONMENT_MCP: text } }).get(MULTI_ENVIRONMENT_MCP)).toBe(value)
    expect(captureFlags(registry, { override: { multi_environment_mcp: text } }).get(MULTI_ENVIRONMENT_MCP)).toBe(value)
  })

  test('a value of the wrong type is an error that names what is allowed and the place, also where a stronger source hides it', () => {
    const bad = (sources: Parameters<typeof captureFlags>[1]): string => {
      const error = thrown(() => captureFlags(registry, sources))
      expect(error.code).toBe('FLAG_BAD_VALUE')
      return error.message
    }
    const place = 'tapline.json:7:3'
    expect(
      bad({ features: [{ name: 'multi_environment_mcp', value: 'on', where: place }], override: { multi_environment_mcp: true } }),
    ).toBe('the flag "multi_environment_mcp" cannot be "on" (tapline.json:7:3): it is one of true, false')
    expect(bad({ variables: { TAPLINE_FLAG_GUARD_MODE: '' } })).toBe(
      'the flag "guard_mode" cannot be "" (the environment variable TAPLINE_FLAG_GUARD_MODE): it is one of "off", "shadow", "enforce"',
    )
    expect(bad({ override: { guard_mode: true } })).toContain('(the override)')
    expect(bad({ override: { multi_environment_mcp: 1 } })).toContain('true, false')
  })

  test('an unknown flag is an error with a suggestion in every source', () => {
    const unknown = (sources: Parameters<typeof captureFlags>[1]): string => {
      const error = thrown(() => captureFlags(registry, sources))
      expect(error.code).toBe('FLAG_UNKNOWN')
      return error.message
    }
    expect(unknown({ override: { gaurd_mode: 'off' } })).toBe('there is no flag "gaurd_mode": did you mean "guard_mode"?')
    expect(unknown({ features: [{ name: 'guard_mod', value: 'off', where: 'a.json:1:2' }] })).toBe(
      'there is no flag "guard_mod": did you mean "guard_mode"? (a.json:1:2)',
    )
    expect(unknown({ variables: { TAPLINE_FLAG_GUARD_MODES: 'off' } })).toBe(
      'the environment variable TAPLINE_FLAG_GUARD_MODES names no flag: did you mean "TAPLINE_FLAG_GUARD_MODE"?',
    )
    expect(unknown({ variables: { TAPLINE_FLAG_X: '1' } })).toBe('the environment variable TAPLINE_FLAG_X names no flag')
  })

  test('what was captured is frozen, sorted, and does not follow its sources', () => {
    const variables: Record<string, string> = { TAPLINE_FLAG_GUARD_MODE: 'off' }
    const flags = captureFlags(registry, { variables })
    variables.TAPLINE_FLAG_GUARD_MODE = 'shadow'
    expect(flags.get(mode)).toBe('off')
    expect(flags.all()).toEqual([
      { flagKey: 'guard_mode', value: 'off', variant: 'off', reason: 'STATIC', source: 'environment_variable' },
      { flagKey: 'multi_environment_mcp', value: false, reason: 'DEFAULT', source: 'default' },
    ])
    expect([flags, flags.all(), ...flags.all()].every(Object.isFrozen)).toBe(true)
  })

  test('another flag object of the same name gets its own default, never a value that it cannot have', () => {
    const flags = captureFlags(registry, { override: { guard_mode: 'shadow' } })
    const lookalike = defineFlag({ name: 'guard_mode', default: true, description: '' })
    expect(flags.details(lookalike)).toMatchObject({ value: true, reason: 'ERROR', errorCode: 'TYPE_MISMATCH' })
    expect(flags.get({ ...mode })).toBe('shadow')
    expect(thrown(() => flags.get(defineFlag({ name: 'never_defined', default: true, description: '' }))).code).toBe('FLAG_UNKNOWN')
  })

  test('any text in any source is a value of the flag or one of the two errors', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.oneof(fc.string(), fc.boolean(), fc.double()),
        fc.constantFrom('guard_mode', 'multi_environment_mcp'),
        (name, value, known) => {
          for (const sources of [
            { override: { [name]: value } },
            { override: { [known]: value } },
            { variables: { [`TAPLINE_FLAG_${name}`]: String(value) } },
            { features: [{ name: known, value, where: 'x' }] },
          ]) {
            expect(fine(() => captureFlags(registry, sources))).toBe(true)
          }
        },
      ),
    )
  })
})
