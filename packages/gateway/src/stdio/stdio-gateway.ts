import type { Readable, Writable } from 'node:stream';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import { HttpServerConnection } from '../http/http-server-connection.ts';
import type { Upstream } from '../http/upstream.ts';
import { Relay } from '../relay/relay.ts';
import { ChildServer, pump, type ServerExit, type SignalSource, written } from './child-server.ts';

/** A client that is connected by stdio, with the records of its calls. */
interface StdioClient {
  readonly calls: GatewayCalls;
  /** Streams of the client. */
  readonly input: Readable;
  readonly output: Writable;
  /** Signals for this process, which also end the server. */
  readonly signals: SignalSource;
}

/** Options of {@link runStdioGateway}. */
export interface StdioGatewayOptions extends StdioClient {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs an MCP server in a child process, and passes the messages between it and the client. Resolves when the server
 * has ended and all of its calls are recorded.
 *
 * @throws Error when the command cannot be started
 */
export async function runStdioGateway(options: StdioGatewayOptions): Promise<ServerExit> {
  const { input, output, calls } = options;
  const server = await ChildServer.start(options);
  const relay = new Relay(calls, {
    toServer: (line) => server.stdin.write(line),
    toClient: writerTo(output),
  });
  const stop = () => {
    relay.clientGone();
    return server.stop();
  };
  output.on('error', () => void stop());
  const stopListening = options.signals.listen((signal) => {
    relay.clientGone();
    void server.terminate(signal);
  });
  const received = pump(server.stdout, output, (line) => relay.fromServer(line));
  void pump(input, server.stdin, (line) => relay.fromClient(line)).then(stop);
  const exit = await server.exit;
  await received;
  await relay.serverGone(`The MCP server ended with ${describe(exit)}`);
  input.destroy();
  await written(output);
  stopListening();
  return exit;
}

/** Returns a function that writes to a client as long as it listens. */
function writerTo(output: Writable): (line: Buffer | string) => void {
  return (line) => {
    if (output.writable) output.write(line);
  };
}

function describe({ code, signal }: ServerExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

/** Time that requests have to end when the client is gone, in milliseconds. */
const endMs = 2000;

/**
 * Passes the messages between a client that is connected by stdio and a server that is connected by Streamable HTTP.
 * Resolves when the client is gone, or a signal ends the gateway, and all calls are recorded.
 */
export async function runStdioToHttp(
  { calls, input, output, signals }: StdioClient,
  upstream: Upstream,
): Promise<NodeJS.Signals | undefined> {
  const connection = new HttpServerConnection(upstream, (line) => relay.fromServer(line));
  const relay: Relay = new Relay(calls, {
    toServer: (line) => connection.send(line),
    toClient: writerTo(output),
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
