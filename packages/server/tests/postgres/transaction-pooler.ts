import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atTestEnd } from '../test-end.ts';

/** Response to a new client: authenticated, with an invalid process id, and ready. */
const welcome = Buffer.from('R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\x7f\0\0\0\0\0\0\x01Z\0\0\0\x05I', 'latin1');

/** Calls `take` with each complete message of PostgreSQL's protocol. A client's first message has no type. */
function eachMessage(socket: Socket, hasStart: boolean, take: (message: Buffer) => void): void {
  let left = Buffer.alloc(0);
  let typeBytes = hasStart ? 0 : 1;
  socket
    .on('error', () => {})
    .on('data', (bytes) => {
      left = Buffer.concat([left, bytes]);
      while (left.length >= typeBytes + 4) {
        const length = typeBytes + left.readInt32BE(typeBytes);
        if (left.length < length) return;
        const message = left.subarray(0, length);
        left = left.subarray(length);
        typeBytes = 1;
        take(message);
      }
    });
}

/**
 * Starts a pooler with one connection that pools by transaction, like PgBouncer with `pool_mode = transaction`.
 *
 * @returns its address
 */
export async function transactionPooler(url: string): Promise<string> {
  const address = new URL(url);
  const database = connect(Number(address.port), '127.0.0.1');
  const waiting: { client: Socket; message: Buffer }[] = [];
  let owner: Socket | undefined;
  let isReady = false;
  const lend = (): void => {
    if (!isReady) return;
    const next = waiting.findIndex(({ client }) => owner === undefined || client === owner);
    const [turn] = next < 0 ? [] : waiting.splice(next, 1);
    if (!turn) return;
    owner = turn.client;
    database.write(turn.message);
    lend();
  };
  eachMessage(database, false, (message) => {
    const isEnd = message[0] === 0x5a;
    owner?.write(message);
    isReady ||= isEnd;
    if (isEnd && message[5] === 0x49) owner = undefined;
    if (isEnd) lend();
  });
  const pooler = createServer((client) => {
    let isIn = false;
    eachMessage(client, true, (message) => {
      if (message[0] === 0x58) return;
      if (isIn) waiting.push({ client, message });
      else client.write(welcome);
      isIn = true;
      lend();
    });
  }).listen(0, '127.0.0.1');
  await once(pooler, 'listening');
  atTestEnd(async () => {
    pooler.close();
    database.destroy();
  });
  const start = Buffer.from(
    `\0\0\0\0\0\x03\0\0user\0${address.username}\0database\0${address.pathname.slice(1)}\0\0`,
  );
  start.writeInt32BE(start.length);
  database.write(start);
  address.port = String((pooler.address() as AddressInfo).port);
  return address.href;
}
