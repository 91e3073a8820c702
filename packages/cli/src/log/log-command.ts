import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { parseWholeNumber } from '../options/numbers.ts';
import { note, print } from '../output/print.ts';
import { Interruption } from '../terminal/confirm.ts';
import { addVerify } from './verify.ts';

/** Creates the command `log`. */
export function logCommand(): Command {
  const command = new Command('log').description(
    'Verifies the record of a deployment without trusting it, and runs a witness of it.',
  );
  addVerify(command);
  addWitness(command);
  return command;
}

interface Flags {
  readonly name: string;
  readonly keyFile: string;
  readonly state: string;
  readonly log: readonly string[];
  readonly host: string;
  readonly port: number;
}

/** Adds `log witness`. */
function addWitness(parent: Command): void {
  const command = parent
    .command('witness')
    .description(
      'Cosigns the checkpoints of logs (C2SP tlog-witness), and only those that continue the last one: a log that removes or changes an entry gets no further cosignature. Run it on a machine that the operator of the log does not control.',
    );
  addExamples(command, [
    [
      "actlog log witness --name witness.example.org --log 'actlog.example.com/acme/1+1b2c3d4e+AX…'",
      'prints its verifier key, and serves on http://127.0.0.1:8788',
    ],
  ]);
  command
    .requiredOption('--name <name>', 'name of the witness, such as witness.example.org')
    .requiredOption(
      '--log <key>',
      'verifier key of a log to witness; repeatable',
      (value: string, before: readonly string[] = []) => [...before, value],
    )
    .option(
      '--key-file <file>',
      'file with the private key, which is created if it is missing',
      'witness.key',
    )
    .option(
      '--state <folder>',
      'folder with the last checkpoint of each log; never restore an old copy',
      'witness',
    )
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes a free one', parseWholeNumber, 8788)
    .action(serve);
}

async function serve({ name, keyFile, state, log, host, port }: Flags): Promise<void> {
  const { createKey, LogError, nodeListener, parseSignerKey, parseVerifierKey, Witness, WitnessFolder } =
    await import('@actlog/log');
  const orUsageError = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      if (LogError.is(error)) throw new UsageError(error.message);
      throw error;
    }
  };
  const key = orUsageError(() =>
    parseSignerKey(signerKeyIn(keyFile, () => createKey(name, 'witness').signerKey)),
  );
  if (key.name !== name || key.kind !== 'witness') {
    throw new UsageError(`The file "${keyFile}" has the key of the ${key.kind} ${key.name}, not of ${name}.`);
  }
  const witness = new Witness({
    key,
    logs: log.map((text) => orUsageError(() => parseVerifierKey(text))),
    store: new WitnessFolder(state),
    onRefused: ({ checkpoint, reason }) => note(`Refused: ${reason}\n${checkpoint}`),
  });
  const server = createServer(
    nodeListener(
      (request) => witness.fetch(request),
      (error) => note(`The request failed: ${(error as Error).message}`),
    ),
  );
  const interruption = new Interruption();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    const { port: actual } = server.address() as AddressInfo;
    await print(`Verifier key: ${key.verifierKey.text}`);
    await print(`Witness: http://${host.includes(':') ? `[${host}]` : host}:${actual}`);
    await new Promise<void>((resolve) => {
      if (interruption.signal.aborted) resolve();
      interruption.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    server.closeAllConnections();
    server.close();
    interruption.close();
  }
}

/** Returns the key in a file, which is created if it is missing. */
function signerKeyIn(file: string, create: () => string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new UsageError(`The file "${file}" of --key-file cannot be read: ${(error as Error).message}.`);
    }
  }
  try {
    writeFileSync(file, `${create()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new UsageError(`The file "${file}" of --key-file cannot be written: ${(error as Error).message}.`);
  }
  return readFileSync(file, 'utf8');
}
