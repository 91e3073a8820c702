import type { Readable, Writable } from 'node:stream';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import { Relay } from '../relay/relay.ts';
import { pump, type SignalSource, written } from '../stdio/child-server.ts';
import { HttpServerConnection } from './http-server-connection.ts';
import type { Upstream } from './upstream.ts';

/** Time that requests have to end when the client is gone, in milliseconds. */
const endMs = 2000;

/** Options of {@link runStdioToHttp}. */
export interface StdioToHttpOptions {
  readonly upstream: Upstream;
  readonly calls: GatewayCalls;
  /** Streams of the client. */
  readonly input: Readable;
  readonly output: Writable;
  readonly signals: SignalSource;
}

/**
 * Passes the messages between a client that is connected by stdio and a server that is connected by Streamable HTTP.
 * Resolves when the client is gone, or a signal ends the gateway, and all calls are recorded.
 */
export async function runStdioToHttp({
  upstream,
  calls,
  input,
  output,
  signals,
}: StdioToHttpOptions): Promise<NodeJS.Signals | undefined> {
  const connection = new HttpServerConnection(upstream, (line) => relay.fromServer(line));
  const relay: Relay = new Relay(calls, {
    toServer: (line) => connection.send(line),
    toClient: (line) => {
      if (output.writable) output.write(line);
    },
  });
  const ended = Promise.withResolvers<NodeJS.Signals | undefined>();
  const stopListening = signals.listen((signal) => ended.resolve(signal));
  output.on('error', () => ended.resolve(undefined));
  void pump(input, output, (line) => relay.fromClient(line)).then(() => ended.resolve(undefined));
  const signal = await ended.promise;
  relay.clientGone();
  if (signal === undefined) {
    const timer = Promise.withResolvers<void>();
    const timeout = setTimeout(() => timer.resolve(), endMs);
    await Promise.race([connection.settled(), timer.promise]);
    clearTimeout(timeout);
  }
  await relay.close();
  await connection.close();
  await upstream.close();
  input.destroy();
  await written(output);
  stopListening();
  return signal;
}
