import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { environmentVariable } from './platform.ts';
import { shown } from './shown.ts';

/** How much is logged; each level includes those before it. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug';

/** Where log lines go: `console`, or a logger with the same four methods. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

/**
 * All that a log line may hold beside its message. Nothing else is ever passed to a logger: no header, no query, no
 * body, no key.
 */
export interface LogFields {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  /** Which try it is, from 1. */
  readonly attempt?: number | undefined;
  readonly delayMs?: number | undefined;
  readonly durationMs?: number | undefined;
}

const levels: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug'];

/**
 * The level from the option, else from `ACTLOG_LOG`, else `warn`.
 *
 * @throws InvalidArgumentError When the option is no level. A variable that names none is as if it were not set.
 */
export function resolveLogLevel(option: LogLevel | undefined): LogLevel {
  const named = option ?? environmentVariable('ACTLOG_LOG');
  const level = levels.find((one) => one === named);
  if (option && !level) {
    throw new InvalidArgumentError(`logLevel must be one of ${levels.join(', ')}, and is ${shown(option)}.`);
  }
  return level ?? 'warn';
}

/** A logger that passes on only what the level asks for. A logger that throws does not disturb a call. */
export class LeveledLogger {
  readonly #logger: Logger;
  readonly #most: number;

  constructor(logger: Logger, level: LogLevel) {
    this.#logger = logger;
    this.#most = levels.indexOf(level);
  }

  /** Whether lines of this level are wanted, so that their fields need not be made in vain. */
  wants(level: Exclude<LogLevel, 'off'>): boolean {
    return levels.indexOf(level) <= this.#most;
  }

  /** Logs one line, when the level asks for it. */
  log(level: Exclude<LogLevel, 'off'>, message: string, fields?: LogFields): void {
    if (!this.wants(level)) return;
    try {
      if (fields === undefined) this.#logger[level](`[actlog] ${message}`);
      else this.#logger[level](`[actlog] ${message}`, fields);
    } catch {
      // The call matters more than its log line.
    }
  }
}
