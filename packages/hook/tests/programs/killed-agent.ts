// An agent that starts a hook with the arguments and the event of its own command line, and then waits to be killed.
import { spawn } from 'node:child_process';

const [event = '', ...args] = process.argv.slice(2);
const hook = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'inherit'] });
hook.stdin.end(event);
hook.on('exit', (code) => process.send?.(code));
// The channel keeps the process alive.
process.on('message', () => {});
