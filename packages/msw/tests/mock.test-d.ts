import { expectTypeOf, it } from 'vitest';
import { type ActlogMock, actlogMock, type FaultOptions } from '../src/index.ts';

const mock = {} as ActlogMock;

it('knows the endpoints and the fields by name', () => {
  expectTypeOf<'guardian.pendingActions.decide'>().toExtend<FaultOptions['endpoint']>();
  expectTypeOf(mock.state.pendingActions[0]?.status).toEqualTypeOf<
    'pending' | 'approved' | 'denied' | 'expired' | 'withdrawn' | undefined
  >();
  // @ts-expect-error there is no such endpoint
  mock.rateLimited({ endpoint: 'events.delete' });
  // @ts-expect-error not a gateway status
  mock.down({ status: 500 });
  // @ts-expect-error there is no such effect
  actlogMock({ policies: [{ name: 'p', effect: 'forbid' }] });
});
