import { invalidValue } from './errors/invalid-argument-error.ts';
import { environmentVariable } from './platform.ts';

/** Minimum severity of logged lines; each level includes those before it. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug';

/** Destination of log lines: `console`, or a logger with the same four methods. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

/** All fields that a log line may have beside its message. A logger never receives headers, queries, bodies or keys. */
export interface LogFields {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  /** Attempt number, from 1. */
  readonly attempt?: number | undefined;
  readonly delayMs?: number | undefined;
  readonly durationMs?: number | undefined;
}

const levels: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug'];

/**
 * Returns the level from the option, else from `ACTLOG_LOG`, else `warn`.
 *
 * @throws InvalidArgumentError When the option is not a level. An unknown level in the variable is ignored.
 */
export function resolveLogLevel(option: LogLevel | undefined): LogLevel {
  const named = option ?? environmentVariable('ACTLOG_LOG');
  const level = levels.find((one) => one === named);
  if (option && !level) {
    throw invalidValue('logLevel', `one of ${levels.join(', ')}`, option);
  }
  return level ?? 'warn';
}

/** Logger that drops lines below the level. An error thrown by the underlying logger does not affect the call. */
export class LeveledLogger {
  readonly #logger: Logger;
  readonly #most: number;

  constructor(logger: Logger, level: LogLevel) {
    this.#logger = logger;
    this.#most = levels.indexOf(level);
  }

  /** `true` if lines of this level are logged, so that their fields need not be built otherwise. */
  wants(level: Exclude<LogLevel, 'off'>): boolean {
    return levels.indexOf(level) <= this.#most;
  }

  /** Logs one line if the level allows it. */
  log(level: Exclude<LogLevel, 'off'>, message: string, fields?: LogFields): void {
    if (!this.wants(level)) return;
    try {
      if (fields === undefined) this.#logger[level](`[actlog] ${message}`);
      else this.#logger[level](`[actlog] ${message}`, fields);
    } catch {
      // A failing logger must not fail the call.
    }
  }
}
