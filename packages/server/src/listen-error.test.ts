import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from './index.ts';

test('names a port that is in use, and what to do', async () => {
  const other = createServer();
  onTestFinished(() => void other.close());
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
  });
  await expect(startServer({ port })).rejects.toThrow(
    `The port ${port} of 127.0.0.1 is in use, perhaps by another actlog: choose another port (--port, ACTLOG_PORT), or 0 for a free one.`,
  );
});

test.each(['192.0.2.1', 'no-such-host.invalid'])(
  'names a host that this machine does not have: %s',
  async (host) => {
    await expect(startServer({ host, port: 0 })).rejects.toThrow(
      `This machine has no address "${host}" to listen on: choose another host (--host, ACTLOG_HOST).`,
    );
  },
);
