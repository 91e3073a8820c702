import { mutantGroups } from './groups.ts';
import { judgesMutants } from './judge.ts';

judgesMutants(mutantGroups.tenants);
