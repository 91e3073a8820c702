// The parts of undici that webhooks use. Its main module would also install the global dispatcher of the process, and so
// replace a proxy, a mock or client certificates of the program that the server runs in; these files do not touch it.
// undici has no types for them, so the declarations are beside this file.
import request from 'undici/lib/api/api-request.js';
import connect from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';

export { Agent, connect as buildConnector, request };
