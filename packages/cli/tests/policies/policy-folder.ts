import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { actlog, type Ended } from '../command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A folder with policy files, in which commands run. It is removed after the test. */
export class PolicyFolder {
  readonly path = temporaryFolder();
  readonly #env: Readonly<Record<string, string>>;

  /** @param files - texts by their paths in the folder */
  constructor(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): void {
    const file = join(this.path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Runs a command of `policies` in the folder. */
  run(...args: string[]): Promise<Ended> {
    return actlog(['policies', ...args], { env: this.#env, cwd: this.path });
  }
}

/** Policies and tests that the tests change. */
export const refunds = `policies:
  - name: Large refunds need a person
    effect: require_approval
    match: { tools: [refund*] }
    condition: args.amount > 500
    approval: { timeoutSeconds: 900, onTimeout: deny, singleUse: true }
  - name: No deletions
    effect: deny
    match: { tools: [delete_*], environments: [production] }
    message: Ask a person.
`;
