import type { Settings } from './contract-options.ts';
import { Deployment } from './world/deployment.ts';
import { Guardian } from './world/guardian.ts';
import { Provocations } from './world/provocations.ts';
import { Records } from './world/records.ts';
import { Traffic } from './world/traffic.ts';

/** Shared state of one run's checks: the deployment and the records that the run created there. */
export class Run extends Deployment {
  readonly records: Records;
  readonly traffic: Traffic;
  readonly guardian: Guardian;
  readonly provocations: Provocations;

  constructor(settings: Settings) {
    super(settings);
    this.records = new Records(this);
    this.traffic = new Traffic(this, this.records);
    this.guardian = new Guardian(this, this.records);
    this.provocations = new Provocations(this, this.traffic);
  }
}
