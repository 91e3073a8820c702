// The classes of undici that this package uses. Its main module would also install the global dispatcher of the process,
// and so replace the one of the tests; these files do not touch it. undici has no types for them, so the declarations are
// beside this file.
import api from 'undici/lib/api/index.js';
import errors from 'undici/lib/core/errors.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

// The main module does the same: without it, a dispatcher has no `request`.
if (!('request' in Dispatcher.prototype)) Object.assign(Dispatcher.prototype, api);

export { Agent, Dispatcher, errors };
