import { type MutantGroup, mutantGroups } from './groups.ts';
import { judgesMutants } from './judge.ts';

// One fault of each group; `npm run test:all` tries them all.
const groups: readonly MutantGroup[] = Object.values(mutantGroups);
for (const { mutants, only } of groups) judgesMutants({ mutants: mutants.slice(0, 1), only });
