import type { AddressInfo } from 'node:net';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { cardOf, handlerOf } from './agents.ts';

/** Transports that the server offers. */
export const transports = ['JSONRPC', 'HTTP+JSON'] as const;

/** An agent that listens on a port of this machine. */
export interface HttpAgent {
  /** Connects a client. */
  connect(name?: string): Promise<Client>;
  close(): Promise<void>;
}

/**
 * Starts an agent over HTTP.
 *
 * @param status - status with which the server responds to everything. Default: the agent responds
 */
export async function listen(
  executor: AgentExecutor,
  transport: (typeof transports)[number],
  status?: number,
): Promise<HttpAgent> {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = {
    requestHandler: handlerOf(cardOf('recipes', url, transport), executor),
    userBuilder: UserBuilder.noAuthentication,
  };
  if (status !== undefined) app.use((_, response) => void response.status(status).send('No.'));
  app.use(transport === 'JSONRPC' ? jsonRpcHandler(options) : restHandler(options));
  return {
    connect: (name = 'recipes') => new ClientFactory().createFromAgentCard(cardOf(name, url, transport)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
