import { beforeEach, inject } from 'vitest';

beforeEach(({ skip }) => {
  const reason = inject('postgresMissing');
  if (reason !== undefined) skip(`NOT TRIED on PostgreSQL: ${reason}`);
});
