import { adapterSuite } from '../src/index.ts';
import { plainHarness } from './plain-agent.ts';

// The smallest complete adapter. The guide "Writing an adapter" shows this one.
adapterSuite(plainHarness(), 'the adapter of the plain framework');
