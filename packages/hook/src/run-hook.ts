import { readSync } from 'node:fs';
import { decodeText, parseExactJson } from '@actlog/recorder/short-lived';
import { type AgentName, type Dialect, InvalidInputError } from './dialects/dialect.ts';
import { HookHandler } from './hook-handler.ts';
import { type HookOptions, parseHookOptions, usage } from './hook-options.ts';
import type { HookOutput } from './hook-output.ts';

/** Exit code that makes all agents block a call, also used for invalid options. */
const blocked = 2;
/** Exit code of a failure that does not block a call. */
const failed = 1;

/**
 * Runs the command: reads an event from stdin, records or checks the call, and prints the decision.
 *
 * @param args - arguments after `actlog hook`
 * @returns the exit code; nothing is thrown
 */
export async function runHook(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) return print({ exitCode: 0 }, usage);
  let options: HookOptions;
  try {
    options = parseHookOptions(args);
  } catch (error) {
    // It is not known if calls must be guarded.
    return print({ exitCode: blocked, stderr: messageOf(error) });
  }
  return print(await outputFor(options));
}

async function outputFor(options: HookOptions): Promise<HookOutput> {
  const dialect = await loadDialect(options.agent);
  let isFailClosed = isClosedByOptions(options);
  let isBefore = true;
  try {
    const handler = new HookHandler(options, dialect);
    isFailClosed = handler.isFailClosed;
    const { text, value } = await readInput();
    const event = dialect.parse(value, options.eventName);
    isBefore = event.kind === 'before';
    const output = await handler.handle(event, text);
    const problems = handler.problems.map(messageOf);
    return problems.length === 0 ? output : { ...output, stderr: problems.join('\n') };
  } catch (error) {
    const exitCode = isBefore && isFailClosed ? blocked : isBefore ? dialect.openFailureExitCode : failed;
    const lets = isBefore && exitCode !== blocked ? dialect.pass : {};
    return { ...lets, exitCode, stderr: messageOf(error) };
  }
}

/** Returns `true` unless calls are known to run when the hook fails: the options of the guard may be what is invalid. */
function isClosedByOptions({ guard }: HookOptions): boolean {
  const mode = guard.mode ?? process.env.ACTLOG_GUARD?.trim();
  const onUnavailable = guard.onUnavailable ?? process.env.ACTLOG_GUARD_ON_UNAVAILABLE?.trim();
  // A misspelled mode may mean `enforce`.
  return !['', 'off', 'observe'].includes(mode ?? '') && onUnavailable !== 'allow';
}

function print({ stdout, stderr, exitCode }: HookOutput, text = ''): number {
  if (text) process.stdout.write(text);
  if (stdout) process.stdout.write(`${JSON.stringify(stdout)}\n`);
  if (stderr) process.stderr.write(`[actlog] ${stderr}\n`);
  return exitCode;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'An unknown error occurred.';
}

const loaders: Readonly<Record<AgentName, () => Promise<Dialect>>> = {
  'claude-code': async () => (await import('./dialects/claude-code.ts')).claudeCode,
  codex: async () => (await import('./dialects/codex.ts')).codex,
  'gemini-cli': async () => (await import('./dialects/gemini-cli.ts')).geminiCli,
  cursor: async () => (await import('./dialects/cursor.ts')).cursor,
  copilot: async () => (await import('./dialects/copilot.ts')).copilot,
};

/** Loads the protocol of an agent, and no other. */
function loadDialect(agent: AgentName): Promise<Dialect> {
  return loaders[agent]();
}

/** Maximum size of an event, in bytes: the result of a tool may be large. */
const maxInputBytes = 64 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/** An event from stdin. */
interface HookInput {
  /** JSON of the event. */
  readonly text: string;
  /** The parsed event, in which a number that a double cannot hold is a `JSON.rawJSON` object. */
  readonly value: unknown;
}

/**
 * Reads the JSON of an event from stdin.
 *
 * @throws InvalidInputError when it is not JSON or too large; the message contains nothing of it
 */
async function readInput(): Promise<HookInput> {
  const input = new Input();
  if (!readPipe(input)) for await (const chunk of process.stdin) input.add(Buffer.from(chunk as Buffer));
  return input.parse();
}

/**
 * Reads a pipe without a stream, which takes longer to load than the rest of a hook that says nothing.
 *
 * @returns `false` if the end was not reached, because reading does not block
 */
function readPipe(input: Input): boolean {
  for (;;) {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    let length: number;
    try {
      length = readSync(0, buffer);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EOF'; // the end of a pipe on Windows
    }
    if (length === 0) return true;
    input.add(buffer.subarray(0, length));
  }
}

/** Content of stdin. */
class Input {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > maxInputBytes) {
      throw new InvalidInputError(
        `The hook event is larger than ${maxInputBytes} bytes: it is not recorded.`,
      );
    }
    this.#chunks.push(chunk);
  }

  parse(): HookInput {
    try {
      const text = decodeText(Buffer.concat(this.#chunks));
      return { text, value: parseExactJson(text) };
    } catch {
      throw new InvalidInputError(
        'The hook event on stdin is not JSON: start this command as a hook of the agent, not by hand.',
      );
    }
  }
}
