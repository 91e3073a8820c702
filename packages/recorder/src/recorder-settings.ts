import { readFileSync } from 'node:fs';
import type { GuardOptions } from './guard/guard-options.ts';
import { toIdentifier } from './identifier.ts';
import type { WhenFull } from './outbox.ts';
import type { RecorderOptions } from './recorder-options.ts';

/** The recorder's own options, checked and completed. */
export interface RecorderSettings {
  readonly agentId: string;
  readonly maxSpoolBytes: number;
  readonly maxQueuedEvents: number;
  readonly whenFull: WhenFull;
  readonly blockTimeoutMs: number;
  readonly concurrency: number;
  readonly pipelining: number;
  readonly requestTimeoutMs: number;
  readonly exitTimeoutMs: number;
  readonly guard: GuardOptions & { readonly mode: 'off' | 'observe' | 'enforce' };
}

const whenFullValues = ['drop-oldest', 'drop-newest', 'block'] as const;
const guardModes = ['off', 'observe', 'enforce'] as const;
const onUnavailableValues = ['allow', 'deny'] as const;

/**
 * Checks the options and fills in what was left out.
 *
 * @throws RangeError when a number cannot be used
 * @throws TypeError when a choice is none, or `enforce` comes without `onUnavailable`
 */
export function resolveRecorderSettings(options: RecorderOptions): RecorderSettings {
  return {
    agentId: toIdentifier(options.agentId ?? process.env.ACTLOG_AGENT_ID ?? packageName() ?? '', 'agent'),
    maxSpoolBytes: atLeast(64 * 1024, 'maxSpoolBytes', options.maxSpoolBytes, 256 * 1024 * 1024),
    maxQueuedEvents: atLeast(1, 'maxQueuedEvents', options.maxQueuedEvents, 10_000),
    whenFull: oneOf(whenFullValues, 'whenFull', options.whenFull) ?? 'drop-oldest',
    blockTimeoutMs: atLeast(0, 'blockTimeoutMs', options.blockTimeoutMs, 30_000),
    concurrency: atLeast(1, 'concurrency', options.concurrency, 16),
    pipelining: atLeast(1, 'pipelining', options.pipelining, 1),
    requestTimeoutMs: atLeast(1, 'requestTimeoutMs', options.requestTimeoutMs, 10_000),
    exitTimeoutMs: atLeast(0, 'exitTimeoutMs', options.exitTimeoutMs, 2_000),
    guard: resolveGuard(options.guard ?? {}),
  };
}

function resolveGuard(given: GuardOptions): RecorderSettings['guard'] {
  const { env } = process;
  const mode = oneOf(guardModes, 'guard.mode', given.mode ?? (env.ACTLOG_GUARD || undefined)) ?? 'off';
  const onUnavailable = oneOf(
    onUnavailableValues,
    'guard.onUnavailable',
    given.onUnavailable ?? (env.ACTLOG_GUARD_ON_UNAVAILABLE || undefined),
  );
  if (mode === 'enforce' && onUnavailable === undefined) {
    throw new TypeError(
      'guard.onUnavailable is missing: choose "allow" (calls run unchecked while the service cannot be reached) or "deny" (they do not run).',
    );
  }
  return {
    ...given,
    mode,
    onUnavailable,
    timeoutMs: atLeast(1, 'guard.timeoutMs', given.timeoutMs, 5_000),
    holdTimeoutMs: atLeast(0, 'guard.holdTimeoutMs', given.holdTimeoutMs, 300_000),
    environment: given.environment ?? (env.ACTLOG_ENVIRONMENT || undefined),
  };
}

function atLeast(minimum: number, field: string, value: number | undefined, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (typeof value === 'number' && value >= minimum) return value;
  throw new RangeError(`${field} must be a number of at least ${minimum}, and is ${String(value)}.`);
}

function oneOf<const Value extends string>(
  values: readonly Value[],
  field: string,
  value: string | undefined,
): Value | undefined {
  if (value === undefined) return undefined;
  const found = values.find((known) => known === value);
  if (found) return found;
  throw new TypeError(`${field} is ${JSON.stringify(value)}: use one of ${values.join(', ')}.`);
}

/** The name in the package.json of the working folder, where an agent is usually started. */
function packageName(): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { name?: unknown };
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
