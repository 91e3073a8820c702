import { adapterSuite } from '../src/index.ts';
import { plainHarness } from './plain-agent.ts';

// The least that an adapter has to be. The guide "Writing an adapter" shows this one.
adapterSuite(plainHarness(), 'the adapter of the plain framework');
