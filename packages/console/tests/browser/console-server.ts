import { type EndpointName, endpoints, type SentOf } from '@actlog/protocol';
import { type RunningServer, startServer } from '@actlog/server';
import { type CallOptions, newTenant, TestServer } from '../../../server/tests/test-server.ts';

let shared: Promise<RunningServer> | undefined;

/** The shared server, as a tenant sees it. */
interface TenantServer extends RunningServer {
  readonly tenant: string;
}

/**
 * A tenant of its own on the server that all tests of a worker share, with the calls that put data in front of the
 * page. Tests of the server validate its responses; this only expects them to succeed.
 */
export class ConsoleServer extends TestServer {
  override readonly server: TenantServer;

  private constructor(server: TenantServer) {
    super(server, server.apiKey, server.tenant);
    this.server = server;
  }

  /** Creates a tenant with a key that has every scope. Webhooks may point to this machine. */
  static async create(): Promise<ConsoleServer> {
    shared ??= startServer({
      port: 0,
      database: ':memory:',
      docs: false,
      webhookAllowedPorts: 'any',
      webhookAllowedRanges: ['127.0.0.0/8'],
    });
    const { server, tenant } = await newTenant(await shared);
    return new ConsoleServer({ ...server, tenant });
  }

  override as(apiKey: string): ConsoleServer {
    return new ConsoleServer({ ...this.server, apiKey });
  }

  override async ok<Name extends EndpointName>(name: Name, options?: CallOptions): Promise<SentOf<Name>> {
    const response = await this.send(name, options);
    if (response.status === endpoints[name].success) return (await response.json()) as SentOf<Name>;
    throw new Error(`${name} responded with ${response.status}: ${await response.text()}`);
  }
}
