import type { GatewayCalls } from '../calls/gateway-calls.ts';
import type { ChildServerOptions } from '../stdio/child-server.ts';
import type { SignalSource } from '../stdio/signal-source.ts';
import { ChildSessions } from './child-sessions.ts';
import { HttpProxy } from './http-proxy.ts';
import { Listener } from './listener.ts';
import { Upstream } from './upstream.ts';

/** Options of {@link runHttpGateway}. */
export interface HttpGatewayOptions {
  readonly host: string;
  readonly port: number;
  /** Server that clients are connected with: an address, or the command for a process of each session. */
  readonly server: Upstream | ChildServerOptions;
  readonly calls: GatewayCalls;
  readonly signals: SignalSource;
  /** Called with the address for clients. */
  listening(url: string): void;
}

/**
 * Listens for clients that are connected by Streamable HTTP. Resolves when a signal ends the gateway, and all calls are
 * recorded.
 *
 * @throws Error when the port is taken
 */
export async function runHttpGateway(options: HttpGatewayOptions): Promise<NodeJS.Signals> {
  const { host, port, server, calls, signals } = options;
  const isUpstream = server instanceof Upstream;
  const sessions = isUpstream ? new HttpProxy(server, calls) : new ChildSessions(server, calls);
  const listener = await Listener.start(host, port, (request, response) =>
    sessions.handle(request, response),
  );
  const ended = Promise.withResolvers<NodeJS.Signals>();
  const stopListening = signals.listen((signal) => ended.resolve(signal));
  options.listening(
    `${listener.origin}${isUpstream ? `${server.url.pathname}${server.url.search}` : '/mcp'}`,
  );
  const signal = await ended.promise;
  await listener.close();
  await sessions.close();
  if (isUpstream) await server.close();
  stopListening();
  return signal;
}
