import { Command } from 'commander';
import { addGuardianDecisions } from './decide.ts';
import { addGuardianGrants } from './grants.ts';
import { addGuardianList } from './list.ts';
import { addGuardianWatch } from './watch.ts';

/** Creates the command `guardian`. */
export function guardianCommand(): Command {
  const guardian = new Command('guardian').description(
    'Lists, watches and decides held actions, and revokes grants for later ones. Needs a key with the scope decide, such as the admin key that `actlog serve` prints.',
  );
  addGuardianList(guardian);
  addGuardianWatch(guardian);
  addGuardianDecisions(guardian);
  addGuardianGrants(guardian);
  return guardian;
}
