import { type RunningServer, type ServerOptions, startServer } from '@actlog/server';
import { type Fault, FaultyProxy } from './faulty-proxy.ts';
import type { MutantKeys } from './mutants/mutant.ts';

/** The reference server behind a proxy that can inject faults. */
export class Deployment {
  readonly server: RunningServer;
  readonly proxy: FaultyProxy;
  #tenants = 0;

  private constructor(server: RunningServer, proxy: FaultyProxy) {
    this.server = server;
    this.proxy = proxy;
  }

  /** Starts both. */
  static async start(options: ServerOptions = {}): Promise<Deployment> {
    // Hundreds of runs on one server send invalid keys.
    const server = await startServer({ docs: false, invalidKeyLimit: false, ...options });
    return new Deployment(server, await FaultyProxy.start(server.url));
  }

  /** Creates keys of two new tenants and an expired one. */
  async newKeys(): Promise<MutantKeys> {
    const { admin } = this.server;
    this.#tenants += 1;
    const [own, other] = [`own-${this.#tenants}`, `other-${this.#tenants}`];
    await admin.tenants.create(own);
    await admin.tenants.create(other);
    const retired = await admin.keys.create(own, { name: 'retired', kind: 'test' });
    await admin.keys.revoke(own, retired.key.id);
    return {
      own: (await admin.keys.create(own, { name: 'own', kind: 'test' })).apiKey,
      other: (await admin.keys.create(other, { name: 'other', kind: 'test' })).apiKey,
      retired: retired.apiKey,
    };
  }

  /** Starts another proxy with a fault, for runs at the same time. */
  newProxy(fault: Fault): Promise<FaultyProxy> {
    return FaultyProxy.start(this.server.url, fault);
  }

  /** Stops both. */
  async close(): Promise<void> {
    await this.proxy.close();
    await this.server.close();
  }
}
