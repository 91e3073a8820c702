import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WitnessFolder } from '../src/log-folder.ts';
import { parseSignerKey, parseVerifierKey } from '../src/signed-note.ts';
import { nodeListener, Witness } from '../src/witness.ts';

// A witness in a process that a test can kill. Arguments: its folder, its key, and the key of the log.
const [folder = '', signerKey = '', logKey = ''] = process.argv.slice(2);
const witness = new Witness({
  key: parseSignerKey(signerKey),
  logs: [parseVerifierKey(logKey)],
  store: new WitnessFolder(folder),
});
const server = createServer(nodeListener((request) => witness.fetch(request), console.error));
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
