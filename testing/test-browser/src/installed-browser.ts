import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Names of commands, the best one first: the headless shell has no user interface, and needs a quarter of the time. */
const commands = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** Returns the path of an installed Chromium; undefined without one. */
export function installedBrowser(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return commands
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}
