// A library that is no driver: one function of many.
extern "C" int cuInit(unsigned /*flags*/);
extern "C" int cuInit(unsigned /*flags*/) { return 0; }
