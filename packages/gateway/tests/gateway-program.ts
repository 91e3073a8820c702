import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type InnerExit, InnerProcess } from '../../../scripts/inner-process.ts';
import { runProgram } from './run-program.ts';

/** Node's arguments for the command `actlog gateway` from the sources. */
export const gatewayArgs = [
  '--conditions=@actlog/source',
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(new URL('program.ts', import.meta.url)),
] as const;

/** A running program: a process, or one that runs in the process of the test. */
export interface GatewayProgram {
  readonly exit: Promise<InnerExit>;
  write(bytes: string | Buffer): void;
  /** Ends stdin. */
  end(): void;
  kill(signal: NodeJS.Signals): void;
  onOutput(take: (chunk: Buffer) => void): void;
  onErrorOutput(take: (chunk: Buffer) => void): void;
}

/** Starts `actlog gateway` in this process. */
export function gatewayHere(env: Readonly<Record<string, string>>, args: readonly string[]): GatewayProgram {
  const gateway = new InnerProcess(() => runProgram(args), { env });
  return {
    exit: gateway.exit,
    write: (bytes) => gateway.write(bytes),
    end: () => gateway.end(),
    kill: (signal) => gateway.kill(signal),
    onOutput: (take) => void gateway.stdout.on('written', take),
    onErrorOutput: (take) => void gateway.stderr.on('written', take),
  };
}

/** Starts a program in a process of its own. */
export function spawned(env: Readonly<Record<string, string>>, command: readonly string[]): GatewayProgram {
  const [file = '', ...args] = command;
  const child: ChildProcess = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  return {
    exit: once(child, 'close').then(([code, signal]) => ({ code, signal })),
    write: (bytes) => void child.stdin?.write(bytes),
    end: () => void child.stdin?.end(),
    kill: (signal) => void child.kill(signal),
    onOutput: (take) => void child.stdout?.on('data', take),
    onErrorOutput: (take) => void child.stderr?.on('data', take),
  };
}
