import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type GatewayProgram, gatewayHere } from './gateway-program.ts';

/** Connection of a client to a gateway in this process, by the bytes of its standard streams. */
export class GatewayTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  readonly #env: Readonly<Record<string, string>>;
  readonly #args: readonly string[];
  #gateway: GatewayProgram | undefined;

  /** @param args - arguments after `actlog gateway` */
  constructor(env: Readonly<Record<string, string>>, args: readonly string[]) {
    this.#env = env;
    this.#args = args;
  }

  async start(): Promise<void> {
    const gateway = gatewayHere(this.#env, this.#args);
    this.#gateway = gateway;
    let rest: Buffer = Buffer.alloc(0);
    gateway.onOutput((chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        const line = rest.subarray(0, end).toString();
        rest = rest.subarray(end + 1);
        // As from a pipe: not before the gateway has gone on.
        setImmediate(() => this.onmessage?.(JSON.parse(line) as JSONRPCMessage));
      }
    });
    void gateway.exit.then(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#gateway?.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#gateway?.end();
    await this.#gateway?.exit;
  }
}
