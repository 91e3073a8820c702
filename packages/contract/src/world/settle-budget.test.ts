import { expect, it } from 'vitest';
import { SettleBudget } from './deployment.ts';

it('is used up by looks in vain', () => {
  const budget = new SettleBudget(1000);
  expect(budget.allowanceMs).toBe(1000);
  budget.gaveUp(600);
  expect(budget.allowanceMs).toBe(400);
  budget.gaveUp(600);
  expect(budget.allowanceMs).toBe(0);
});

it('leaves time for data that appears as late as before', () => {
  const budget = new SettleBudget(1000);
  budget.found(300);
  budget.gaveUp(1000);
  expect(budget.allowanceMs).toBe(600);
  for (let look = 0; look < 4; look += 1) budget.gaveUp(budget.allowanceMs);
  expect(budget.allowanceMs).toBe(0);
});

it('is not used up by looks that find their data', () => {
  const budget = new SettleBudget(1000);
  for (let look = 0; look < 10; look += 1) budget.found(900);
  expect(budget.allowanceMs).toBe(1000);
});
