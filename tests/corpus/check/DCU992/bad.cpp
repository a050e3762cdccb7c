//! next DCU992
void f() { int = = ) ( 3; }
