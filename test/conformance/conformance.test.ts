import { drivers } from './drivers.ts';
import { conformance } from './suite.ts';

for (const driver of drivers) conformance(driver);
