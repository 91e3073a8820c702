import type { Requirement } from './requirement.ts';
import { acknowledgement } from './requirements/acknowledgement.ts';
import { authentication } from './requirements/authentication.ts';
import { endpoints } from './requirements/endpoints.ts';
import { errors } from './requirements/errors.ts';
import { event } from './requirements/event.ts';
import { ingest } from './requirements/ingest.ts';
import { limits } from './requirements/limits.ts';
import { lists } from './requirements/lists.ts';
import { outbound } from './requirements/outbound.ts';
import { page } from './requirements/page.ts';
import { profile } from './requirements/profile.ts';
import { records } from './requirements/records.ts';
import { risk } from './requirements/risk.ts';
import { service } from './requirements/service.ts';
import { states } from './requirements/states.ts';
import { versioning } from './requirements/versioning.ts';

/** All requirements, in the order of the specification, followed by those of the reference profile. */
export const requirements: readonly Requirement[] = [
  ...service,
  ...event,
  ...acknowledgement,
  ...records,
  ...page,
  ...states,
  ...endpoints,
  ...ingest,
  ...risk,
  ...lists,
  ...authentication,
  ...outbound,
  ...errors,
  ...limits,
  ...versioning,
  ...profile,
];
