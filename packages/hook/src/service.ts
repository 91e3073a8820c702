import type { IncomingMessage } from 'node:http';
import { Actlog } from '@actlog/client';
import {
  decodingSink,
  type Exchange,
  ParsedHead,
  type Transport,
  type WireRequest,
} from '@actlog/client/transport';
import type { AgentName } from './dialects/dialect.ts';
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
 * @param onIdentityError - called when the token of the caller cannot be read
 * @throws InvalidArgumentError when the key or the address is invalid
 */
export function serviceOf(agent: AgentName, onIdentityError: (error: Error) => void): Actlog | undefined {
  if (missingVariables().length > 0) return undefined;
  const options = { sdk, framework: agent, logLevel: 'off', onIdentityError } as const;
  const client = new Actlog(options);
  // A proxy needs the connections of the client.
  return client.usesDefaultPool ? new Actlog({ ...options, transport: new HttpTransport() }) : client;
}

/**
 * Transport over Node's HTTP client: a hook makes one or two requests, and loading undici, or Node's copy of it behind
 * `fetch`, takes longer than the rest of the hook.
 */
class HttpTransport implements Transport {
  send(request: WireRequest, exchange: Exchange): Promise<void> {
    return new Promise((resolve, reject) => {
      const { method, origin, target, headers, body } = request;
      const url = new URL(target, origin);
      // An import would read every export, and one of them loads undici.
      const http = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
      const sent = http.request(url, { method, headers });
      exchange.onAbort = (reason) => {
        sent.destroy(reason);
        reject(reason);
      };
      exchange.maybeSent = true; // the error shows if it was not
      exchange.inferSentFromError = true;
      sent.on('error', reject);
      sent.on('response', (response) => receive(response, exchange).then(resolve, reject));
      sent.end(body);
    });
  }
}

async function receive(response: IncomingMessage, exchange: Exchange): Promise<void> {
  const head = new ParsedHead(response.statusCode ?? 0, response.headers);
  const sink = exchange.receive(head);
  const decoder = decodingSink(head.header('content-encoding') ?? '', sink);
  for await (const chunk of response) {
    exchange.onChunk?.();
    await (decoder ?? sink).write(chunk as Uint8Array);
  }
  await decoder?.finish();
}
