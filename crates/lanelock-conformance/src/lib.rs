//! What every lanelock engine must pass.
