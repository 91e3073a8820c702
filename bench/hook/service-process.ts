// A service that allows every call and acknowledges every event, in a process of its own.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const decision = JSON.stringify({ decision: 'allow', decidedBy: null, matched: [], pendingActionId: null });
const acknowledgement = JSON.stringify({
  eventId: 'e',
  receivedAt: '2026-01-01T00:00:00.000Z',
  warnings: [],
});

let acknowledged = 0;
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const isCheck = request.url === '/v1/policies/check';
    if (!isCheck) acknowledged += 1;
    response.writeHead(isCheck ? 200 : 202, { 'content-type': 'application/json' });
    response.end(isCheck ? decision : acknowledgement);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('message', () => process.send?.(acknowledged));
process.on('disconnect', () => process.exit());
