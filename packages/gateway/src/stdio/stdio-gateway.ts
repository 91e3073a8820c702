import type { Readable, Writable } from 'node:stream';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import { Relay } from '../relay/relay.ts';
import { ChildServer, pump, type ServerExit, type SignalSource, written } from './child-server.ts';

/** Options of {@link runStdioGateway}. */
export interface StdioGatewayOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly calls: GatewayCalls;
  /** Streams of the client. */
  readonly input: Readable;
  readonly output: Writable;
  /** Signals for this process, which also end the server. */
  readonly signals: SignalSource;
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
    toClient: (line) => {
      if (output.writable) output.write(line);
    },
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

function describe({ code, signal }: ServerExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
