import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startServer } from '@actlog/server';
import { fromSource } from '../measure/from-source.ts';

/** Address of a service, with the key of an agent. */
export interface ServiceAddress {
  readonly url: string;
  readonly apiKey: string;
}

/** Starts a service in a process of its own. */
export async function startService(): Promise<ServiceAddress & { stop(): void }> {
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: [...fromSource] });
  const [address] = (await once(child, 'message')) as [ServiceAddress];
  return { ...address, stop: () => void child.kill() };
}

if (process.send) {
  const { url, agentKey, apiKey } = await startServer({ database: ':memory:', port: 0, docs: false });
  process.send({ url, apiKey: agentKey ?? apiKey } satisfies ServiceAddress);
}
