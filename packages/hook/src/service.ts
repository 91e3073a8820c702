import { Actlog } from '@actlog/client';
import type { AgentName } from './agents.ts';
import { HttpDispatcher } from './http-dispatcher.ts';
import { version } from './version.ts';

/** Value of `x-service-sdk`. */
export const sdk = `@actlog/hook/${version}`;

/** Returns the variables without which there is no service; empty if it is configured. */
export function missingVariables(): string[] {
  return ['ACTLOG_BASE_URL', 'ACTLOG_API_KEY'].filter((name) => !process.env[name]?.trim());
}

/**
 * Creates the client of a hook; undefined if no service is configured.
 *
 * @throws InvalidArgumentError when the key or the address is invalid
 */
export function serviceOf(agent: AgentName): Actlog | undefined {
  if (missingVariables().length > 0) return undefined;
  const options = { sdk, framework: agent, logLevel: 'off' } as const;
  const client = new Actlog(options);
  // A proxy needs the client's own connections.
  return client.usesDefaultPool
    ? new Actlog({ ...options, dispatcher: new HttpDispatcher() as never })
    : client;
}
