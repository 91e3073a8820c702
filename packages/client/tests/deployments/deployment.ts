import type { ClientOptions } from '@actlog/client';
import { ForeignServer } from '@actlog/foreign-server';
import { actlogMock } from '@actlog/msw';
import { interceptUndici } from '@actlog/msw/node';
import { startServer } from '@actlog/server';
import { setupServer } from 'msw/node';
import { testKey } from '../test-client.ts';
import { type Dialect, foreignDialect, referenceDialect } from './dialect.ts';

/** A service that the client is tested against. */
export interface Deployment {
  readonly dialect: Dialect;
  /** Address and API key of the service. */
  readonly options: Required<Pick<ClientOptions, 'baseURL' | 'apiKey'>>;
  close(): Promise<void>;
}

async function referenceServer(): Promise<Deployment> {
  const server = await startServer({ docs: false });
  const options = { baseURL: server.url, apiKey: server.apiKey };
  return { dialect: referenceDialect, options, close: () => server.close() };
}

async function foreignServer(): Promise<Deployment> {
  const server = await ForeignServer.start([testKey]);
  const options = { baseURL: server.url, apiKey: testKey };
  return { dialect: foreignDialect, options, close: () => server.close() };
}

async function mock(): Promise<Deployment> {
  const service = actlogMock();
  const server = setupServer(...service.handlers);
  const undici = interceptUndici(service, server);
  server.listen({ onUnhandledFrame: 'error' });
  const close = async () => {
    undici.close();
    server.close();
  };
  return { dialect: referenceDialect, options: service.options, close };
}

/** The services, each started anew. */
export const deployments: readonly (readonly [name: string, start: () => Promise<Deployment>])[] = [
  ['the reference server', referenceServer],
  ['a server that differs wherever the specification allows', foreignServer],
  ['the mock', mock],
];
