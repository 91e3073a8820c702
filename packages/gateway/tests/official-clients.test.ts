import { testOfficialClients } from './official-client-tests.ts';

// The others are in the slow tests, because each client has two or three processes.
testOfficialClients([['HTTP → HTTP', 'v1']]);
